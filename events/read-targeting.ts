import { problemWithDestination, problemWithName } from './fields.ts';
import { type FieldProblem, Problems, readRules } from './read-rules.ts';
import type { GivenRule } from './rule-ids.ts';
import type { Utm } from './targeting-schema.ts';
import { maxScansLimit, maxTagLength, maxTags, utmFields } from './targeting-words.ts';
import { readTimestamp, timestampProblem } from './timestamp.ts';

/** A change of what decides where a code leads; null removes, and what is absent stays. */
export interface TargetingChange {
  rules?: GivenRule[] | null;
  starts_at?: Date | null;
  expires_at?: Date | null;
  max_scans?: number | null;
  fallback_url?: string | null;
  forward_query?: boolean | null;
  utm?: Utm | null;
  tags?: string[] | null;
}

export const targetingFields = [
  'rules',
  'starts_at',
  'expires_at',
  'max_scans',
  'fallback_url',
  'forward_query',
  'utm',
  'tags',
] as const satisfies (keyof TargetingChange)[];

type Given = Partial<Record<(typeof targetingFields)[number], unknown>>;

/**
 * Reads and validates what a client sends. `ownUrls` are the origins of this service, where no URL may lead. The field of a
 * problem is its place, such as `rules[2].when.countries[0]`.
 */
export function readTargeting(
  given: Given,
  ownUrls: readonly string[],
): { change: TargetingChange; problems: FieldProblem[] } {
  const problems = new Problems();
  const problemWithUrl = (url: string) => problemWithDestination(url, ...ownUrls);
  const change: TargetingChange = {};
  if (given.rules !== undefined) change.rules = emptyAsNull(readRules(given.rules, problems, problemWithUrl));
  for (const field of ['starts_at', 'expires_at'] as const) {
    const value = given[field];
    if (value !== undefined) change[field] = value === null ? null : readTime(value, field, problems);
  }
  if (given.max_scans !== undefined) change.max_scans = readMaxScans(given.max_scans, problems);
  if (given.fallback_url !== undefined) change.fallback_url = readUrl(given.fallback_url, problems, problemWithUrl);
  if (given.forward_query !== undefined) change.forward_query = readFlag(given.forward_query, problems);
  if (given.utm !== undefined) change.utm = readUtm(given.utm, problems);
  if (given.tags !== undefined) change.tags = emptyAsNull(readTags(given.tags, problems));
  const { starts_at, expires_at } = change;
  if (starts_at && expires_at && starts_at >= expires_at) problems.add('expires_at', afterStart);
  return { change, problems: problems.found };
}

export const afterStart = 'must be after starts_at';

const emptyAsNull = <T>(list: T[]): T[] | null => (list.length === 0 ? null : list);

function readTime(value: unknown, field: string, problems: Problems): Date | null {
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

/** Tags are compared without regard to case, so they are stored in lower case, each once. */
export const normalizeTag = (tag: string): string => tag.trim().normalize('NFC').toLowerCase();

function readTags(value: unknown, problems: Problems): string[] {
  if (value === null) return [];
  if (!Array.isArray(value)) {
    problems.add('tags', `must be an array of up to ${maxTags} tags, or null`);
    return [];
  }
  const tags = value.map((tag: unknown, i) => {
    const text = typeof tag === 'string' ? normalizeTag(tag) : '';
    const length = [...text].length;
    if (length < 1 || length > maxTagLength) problems.add(`tags[${i}]`, `must have 1 to ${maxTagLength} characters`);
    else if (/\p{Cc}/u.test(text) || !text.isWellFormed())
      problems.add(`tags[${i}]`, 'must not contain control characters');
    return text;
  });
  const distinct = [...new Set(tags)];
  if (distinct.length > maxTags) problems.add('tags', `must have at most ${maxTags} tags`);
  return distinct;
}
