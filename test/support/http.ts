import { randomBytes } from 'node:crypto';

/** The fields in the `details` of an error, in order. */
export const blamedFields = (response: { body: { error: { details?: { field: string }[] } } }): string[] =>
  (response.body.error.details ?? []).map(({ field }) => field);

/** A well-formed key that does not exist. */
export const unknownKey = (mode: 'live' | 'test' = 'live') =>
  `sk_${mode}_${randomBytes(64)
    .toString('base64')
    .replace(/[^0-9A-Za-z]/g, '')
    .slice(0, 43)}`;

/** The number of responses by status. */
export function countStatuses(responses: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Starts `count` calls of `make` at the same time, and waits for all of them. */
export const atOnce = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
