import { Refusal } from '../../lib/errors.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { withTimeout } from '../../lib/with-timeout.ts';

const maxFormLength = 4096;

const incompleteForm = () =>
  new Refusal('invalid_request', `The form must arrive complete within ${timeouts.bodyMs / 1000} s. Send it again.`);

/** The form's fields; none when the form is longer than `maxLength`. */
export const readForm = (request: Request, maxLength = maxFormLength): Promise<URLSearchParams> =>
  withTimeout(readFields(request, maxLength), timeouts.bodyMs, () => {
    throw incompleteForm();
  });

async function readFields(request: Request, maxLength: number): Promise<URLSearchParams> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of request.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxLength) return new URLSearchParams();
    }
  } catch {
    // The client disconnected.
    throw incompleteForm();
  }
  return new URLSearchParams(text);
}
