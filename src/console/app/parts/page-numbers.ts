/** The pages to link to: the first, the last, and those around the current one; `undefined` where pages are left out. */
export function pageNumbers(page: number, totalPages: number): (number | undefined)[] {
  const shown = [1, page - 1, page, page + 1, totalPages].filter((number) => number >= 1 && number <= totalPages);
  const sorted = [...new Set(shown)].sort((a, b) => a - b);
  return sorted.flatMap((number, i) => {
    const before = sorted[i - 1] ?? 0;
    if (number - before === 1) return [number];
    // A gap of one page is as wide as the page itself.
    return number - before === 2 ? [number - 1, number] : [undefined, number];
  });
}

/** Sizes of the pages of long lists: scans, changes, events. */
export const longSizes = [50, 100, 250] as const;

/** Whether a text is the number of a page. */
export const isPage = (text: string | null) => Number.isSafeInteger(Number(text)) && Number(text) > 0;

/** Page and size in the query of the URL; undefined where they are not valid. The first size is the default. */
export function pageQueryOf(
  query: URLSearchParams,
  sizes: readonly number[],
): { page: number | undefined; limit: number } {
  const page = query.get('page');
  const size = sizes.find((option) => String(option) === query.get('limit'));
  return { page: isPage(page) ? Number(page) : undefined, limit: size ?? sizes[0] ?? 20 };
}
