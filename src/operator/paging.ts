/** Items of one page of the operator's lists. */
export const pageSize = 50;

/** A page, and the position to send for what follows: the position of the last item, or null at the end. */
export interface ListedPage<T> {
  data: T[];
  next: string | null;
}

/** Splits what was read with `LIMIT pageSize + 1`. */
export function pageOf<T>(rows: readonly T[], positionOf: (row: T) => string): ListedPage<T> {
  const data = rows.slice(0, pageSize);
  const last = data.at(-1);
  return { data, next: rows.length > pageSize && last !== undefined ? positionOf(last) : null };
}

/** A pattern of ILIKE for texts that contain `words`. */
export const containing = (words: string) => `%${words.replace(/[\\%_]/g, '\\$&')}%`;
