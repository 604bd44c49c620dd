import { randomBytes } from 'node:crypto';

/** The fields that a 400 blames, in the order of `details`. */
export const blamedFields = (answer: { body: { error: { details?: { field: string }[] } } }): string[] =>
  (answer.body.error.details ?? []).map(({ field }) => field);

/** A well-formed key that belongs to nobody. */
export const unknownKey = (mode: 'live' | 'test' = 'live') =>
  `sk_${mode}_${randomBytes(64)
    .toString('base64')
    .replace(/[^0-9A-Za-z]/g, '')
    .slice(0, 43)}`;

/** How many answers have each status. */
export function countStatuses(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** `count` of whatever `make` gives, all under way at once. */
export const atOnce = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
