import { urlWith } from '../router.ts';

/** Orders of the list, each with its name in the toolbar. */
export const sortOptions = [
  ['-created_at', 'Newest first'],
  ['created_at', 'Oldest first'],
  ['-total_scans', 'Most scans'],
  ['total_scans', 'Fewest scans'],
  ['name', 'Name A–Z'],
  ['-name', 'Name Z–A'],
  ['destination_url', 'Destination A–Z'],
  ['-destination_url', 'Destination Z–A'],
  ['status', 'Status A–Z'],
  ['-status', 'Status Z–A'],
] as const;
export type Sort = (typeof sortOptions)[number][0];

export const defaultSort: Sort = '-created_at';

export const sortOf = (query: URLSearchParams): Sort =>
  sortOptions.find(([option]) => option === query.get('sort'))?.[0] ?? defaultSort;

const opposite = (sort: Sort) => (sort.startsWith('-') ? sort.slice(1) : `-${sort}`);

/** What the header of a column says about the order and leads to: `first`, the usual direction, or else the opposite. */
export function headerSort(
  first: Sort,
  current: Sort,
): { direction: 'ascending' | 'descending' | 'none'; url: string } {
  const isSorted = current === first || current === opposite(first);
  const next = current === first ? opposite(first) : first;
  return {
    direction: !isSorted ? 'none' : current.startsWith('-') ? 'descending' : 'ascending',
    url: urlWith({ sort: next === defaultSort ? undefined : next, page: undefined }),
  };
}
