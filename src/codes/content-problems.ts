import type { CodeChange } from '../../events/code.ts';
import { problemWithDestination } from '../../events/fields.ts';
import { readFields } from '../../events/read-fields.ts';
import type { FieldError } from '../lib/errors.ts';

/**
 * What is wrong now with content that was valid once: the service may have got another address since, which no code may
 * lead to. Blocked hosts are checked apart.
 */
export function problemsWithContent(
  { destination_url, rules, fallback_url }: Pick<CodeChange, 'destination_url' | 'rules' | 'fallback_url'>,
  ownUrls: readonly string[],
): FieldError[] {
  const problem = destination_url === undefined ? undefined : problemWithDestination(destination_url, ...ownUrls);
  const { problems } = readFields({ rules, fallback_url }, ownUrls);
  const found = [...(problem === undefined ? [] : [{ field: 'destination_url', problem }]), ...problems];
  return found.map(({ field, problem }) => ({ field, message: `${field} ${problem}.` }));
}
