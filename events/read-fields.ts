import type { OptionalChange, OptionalField } from './code-fields.ts';
import { maxNoteLength, problemWithDestination, problemWithName, problemWithNote } from './fields.ts';
import { spelledTags, spellingOf, tagsOf } from './tags.ts';
import { type FieldProblem, Problems, readRules } from './targeting/read-rules.ts';
import type { Utm } from './targeting/targeting-schema.ts';
import { maxScansLimit, maxTagLength, maxTags, utmFields } from './targeting/targeting-words.ts';
import { readTimestamp, timestampProblem } from './timestamp.ts';

interface Context {
  problems: Problems;
  problemWithUrl(url: string): string | undefined;
}

type Reader<F extends OptionalField> = (value: unknown, context: Context) => OptionalChange[F];

/** Each optional field, null included. A new one that is missing here does not compile. */
const readers: { [F in OptionalField]: Reader<F> } = {
  rules: (value, { problems, problemWithUrl }) => emptyAsNull(readRules(value, problems, problemWithUrl)),
  starts_at: (value, { problems }) => readTime(value, 'starts_at', problems),
  expires_at: (value, { problems }) => readTime(value, 'expires_at', problems),
  max_scans: (value, { problems }) => readMaxScans(value, problems),
  fallback_url: (value, { problems, problemWithUrl }) => readUrl(value, problems, problemWithUrl),
  forward_query: (value, { problems }) => readFlag(value, problems),
  utm: (value, { problems }) => readUtm(value, problems),
  tags: (value, { problems }) => emptyAsNull(readTags(value, problems)),
  note: (value, { problems }) => readNote(value, problems),
};

/**
 * Reads and validates the optional fields that a client sends. `ownUrls` are the origins of this service, where no URL may
 * lead. The field of a problem is its place, such as `rules[2].when.countries[0]`.
 */
export function readFields(
  given: Partial<Record<OptionalField, unknown>>,
  ownUrls: readonly string[],
): { change: OptionalChange; problems: FieldProblem[] } {
  const problems = new Problems();
  const context: Context = { problems, problemWithUrl: (url) => problemWithDestination(url, ...ownUrls) };
  const change: OptionalChange = {};
  const read = <F extends OptionalField>(field: F) => {
    if (given[field] !== undefined) change[field] = readers[field](given[field], context);
  };
  for (const field of Object.keys(readers) as OptionalField[]) read(field);
  const { starts_at, expires_at } = change;
  if (starts_at && expires_at && starts_at >= expires_at) problems.add('expires_at', afterStart);
  return { change, problems: problems.found };
}

export const afterStart = 'must be after starts_at';

const emptyAsNull = <T>(list: T[]): T[] | null => (list.length === 0 ? null : list);

function readTime(value: unknown, field: string, problems: Problems): Date | null {
  if (value === null) return null;
  const time = readTimestamp(value);
  if (time === undefined) problems.add(field, timestampProblem);
  return time ?? null;
}

function readMaxScans(value: unknown, problems: Problems): number | null {
  if (value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= maxScansLimit) return value;
  problems.add('max_scans', `must be an integer from 1 to ${maxScansLimit}, or null`);
  return null;
}

function readUrl(
  value: unknown,
  problems: Problems,
  problemWithUrl: (url: string) => string | undefined,
): string | null {
  if (value === null) return null;
  if (typeof value !== 'string') problems.add('fallback_url', 'must be an http or https URL, or null');
  else {
    const problem = problemWithUrl(value);
    if (problem === undefined) return value;
    problems.add('fallback_url', problem);
  }
  return null;
}

/** false is the default, and the same as null. */
function readFlag(value: unknown, problems: Problems): true | null {
  if (value === true) return true;
  if (value !== false && value !== null) problems.add('forward_query', 'must be true, false or null');
  return null;
}

function readUtm(value: unknown, problems: Problems): Utm | null {
  if (value === null) return null;
  const utm = problems.objectOf('utm', value, utmFields);
  const read: Utm = {};
  for (const field of utmFields) {
    const text = utm[field];
    if (text === undefined || text === null) continue;
    const problem = typeof text === 'string' ? problemWithName(text) : 'must be a string of 1 to 255 characters';
    if (problem !== undefined) problems.add(`utm.${field}`, problem);
    else read[field] = (text as string).trim();
  }
  return Object.keys(read).length === 0 ? null : read;
}

/** Each once, as it is written: of two that differ only in case, the first. */
function readTags(value: unknown, problems: Problems): string[] {
  if (value === null) return [];
  if (!Array.isArray(value)) {
    problems.add('tags', `must be an array of up to ${maxTags} tags, or null`);
    return [];
  }
  const tags = value.map((tag: unknown, i) => {
    const text = typeof tag === 'string' ? spellingOf(tag) : '';
    const length = [...text].length;
    if (length < 1 || length > maxTagLength) problems.add(`tags[${i}]`, `must have 1 to ${maxTagLength} characters`);
    else if (/\p{Cc}/u.test(text) || !text.isWellFormed())
      problems.add(`tags[${i}]`, 'must not contain control characters');
    return text;
  });
  const distinct = spelledTags(tagsOf(tags)) ?? [];
  if (distinct.length > maxTags) problems.add('tags', `must have at most ${maxTags} tags`);
  return distinct;
}

/** Without surrounding white space; an empty note is the same as none. */
function readNote(value: unknown, problems: Problems): string | null {
  if (value === null) return null;
  const note = typeof value === 'string' ? value.replaceAll('\r\n', '\n').trim() : undefined;
  const problem =
    note === undefined ? `must be a string of up to ${maxNoteLength} characters, or null` : problemWithNote(note);
  if (problem !== undefined) problems.add('note', problem);
  return note || null;
}
