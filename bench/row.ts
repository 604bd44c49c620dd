/** A line of the table that benchmarks print. Ratios are against a peer or limit measured in the same run. */
export interface BenchRow {
  what: string;
  figure: string;
  against: string;
  ratio: number | null;
  target: string;
  goal: string;
  /** Whether target and goal were reached; null where there are none. */
  met: { target: boolean; goal: boolean } | null;
}

/** A bound that a figure or ratio must keep. */
export interface Bounds {
  target: number;
  goal: number;
  /** `least`: the larger the better. */
  kind: 'least' | 'most';
  unit?: string;
}

export function rowOf(
  row: Pick<BenchRow, 'what' | 'figure' | 'against'> & { ratio: number | null; value: number },
  { target, goal, kind, unit = '' }: Bounds,
): BenchRow {
  const keeps = (bound: number) => (kind === 'least' ? row.value >= bound : row.value <= bound);
  const written = (bound: number) => `${kind === 'least' ? '≥' : '≤'} ${bound}${unit}`;
  return {
    what: row.what,
    figure: row.figure,
    against: row.against,
    ratio: rounded(row.ratio),
    target: written(target),
    goal: written(goal),
    met: { target: keeps(target), goal: keeps(goal) },
  };
}

/** A figure that nobody has set a target for. */
export const toldRow = (row: Pick<BenchRow, 'what' | 'figure' | 'against' | 'ratio'>): BenchRow => ({
  ...row,
  ratio: rounded(row.ratio),
  ...{ target: '–', goal: '–', met: null },
});

const rounded = (ratio: number | null) => (ratio === null ? null : Math.round(ratio * 100) / 100);

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

export const perSecond = (value: number) => `${Math.round(value).toLocaleString('en')}/s`;
export const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
