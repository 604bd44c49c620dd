import { urlWith } from '../router.ts';
import { defaultSort, type Sort } from './listing.ts';

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
