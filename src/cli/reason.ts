import { problemWithName } from '../../events/fields.ts';
import { StartError } from '../lib/errors.ts';

/** Validates `--reason`, which the owner of the disabled code or account reads. */
export function readReason(text: string): string {
  const problem = problemWithName(text);
  if (problem !== undefined) throw new StartError(`--reason ${problem}.`);
  return text.trim();
}
