/** Keeps the figures of few people off pages that anyone can read. */

/** A figure of fewer visitors than this is not shown. */
export const minVisitors = 5;

export interface Cell {
  name: string;
  scans: number;
  visitors: number;
}

/** A number of scans or visitors; null if it is of fewer than `minVisitors`. */
export type Shown = number | null;

export interface ShownTable {
  rows: { name: string; scans: number }[];
  /** All others together; undefined if there are none. */
  other: Shown | undefined;
}

const sumOf = (cells: readonly Cell[], figure: 'scans' | 'visitors') =>
  cells.reduce((sum, cell) => sum + cell[figure], 0);

/** Whether figures cannot be told apart in their sum, and the sum is one of enough people. */
const isCrowd = (cells: readonly Cell[]) => cells.length > 1 && sumOf(cells, 'visitors') >= minVisitors;

/**
 * Splits cells into those that are shown and those that are not. Of a single hidden cell the figure would be the total less
 * the others, so the smallest of the others are hidden with it until that is the figure of enough people.
 */
function split(cells: readonly Cell[], maxShown: number): { shown: Cell[]; hidden: Cell[] } {
  const sorted = cells.filter(({ scans }) => scans > 0).sort((a, b) => b.scans - a.scans || (a.name < b.name ? -1 : 1));
  const large = sorted.filter(({ visitors }) => visitors >= minVisitors);
  const shown = large.slice(0, maxShown);
  const hidden = [...large.slice(maxShown), ...sorted.filter(({ visitors }) => visitors < minVisitors)];
  while (hidden.length > 0 && !isCrowd(hidden)) {
    const smallest = shown.pop();
    if (smallest === undefined) break;
    hidden.push(smallest);
  }
  return { shown, hidden };
}

/** The largest cells, and the sum of all others. */
export function hideInTable(cells: readonly Cell[], maxRows: number): ShownTable {
  const { shown, hidden } = split(cells, maxRows);
  return {
    rows: shown.map(({ name, scans }) => ({ name, scans })),
    other: hidden.length === 0 ? undefined : isCrowd(hidden) ? sumOf(hidden, 'scans') : null,
  };
}

/** The same cells in their order, with null for those that are hidden. Zeros are shown: they are about no one. */
export function hideInSeries(cells: readonly Cell[]): { name: string; scans: Shown }[] {
  const hidden = new Set(split(cells, Number.POSITIVE_INFINITY).hidden.map(({ name }) => name));
  return cells.map(({ name, scans }) => ({ name, scans: hidden.has(name) ? null : scans }));
}

/** Totals of a page: both null if they are of too few people. */
export function hideTotals({ scans, visitors }: Pick<Cell, 'scans' | 'visitors'>): { scans: Shown; visitors: Shown } {
  if (scans > 0 && visitors < minVisitors) return { scans: null, visitors: null };
  return { scans, visitors: Math.min(visitors, scans) };
}
