import { faultOfName } from '../../events/fields.ts';
import { StartError } from '../lib/errors.ts';

/** Why the operator disables something, as its owner will read it. */
export function readReason(text: string): string {
  const fault = faultOfName(text);
  if (fault !== undefined) throw new StartError(`--reason ${fault}.`);
  return text.trim();
}
