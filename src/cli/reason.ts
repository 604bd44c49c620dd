import { faultOfName } from '../../events/fields.ts';
import { StartError } from '../lib/errors.ts';

/** Validates `--reason`, which the owner of the disabled code or account reads. */
export function readReason(text: string): string {
  const fault = faultOfName(text);
  if (fault !== undefined) throw new StartError(`--reason ${fault}.`);
  return text.trim();
}
