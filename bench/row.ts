/** One line of the result table. Ratios compare with a peer or limit measured in the same run. */
export interface BenchRow {
  what: string;
  figure: string;
  against: string;
  ratio: number | null;
  target: string;
  goal: string;
  /** Whether target and goal were met; null if the row has none. */
  met: { target: boolean; goal: boolean } | null;
}

/** The bounds of a row: `min` if larger is better, `max` if smaller is better. */
export interface Bounds {
  target: number;
  goal: number;
  kind: 'min' | 'max';
  unit?: string;
}

interface Measurement extends Pick<BenchRow, 'what' | 'figure' | 'against' | 'ratio'> {
  /** The number that is compared with the bounds, if it is not the ratio. */
  value?: number;
}

export function boundedRow(measurement: Measurement, { target, goal, kind, unit = '' }: Bounds): BenchRow {
  const { what, figure, against, ratio, value = ratio ?? Number.NaN } = measurement;
  const meets = (bound: number) => (kind === 'min' ? value >= bound : value <= bound);
  const format = (bound: number) => `${kind === 'min' ? '≥' : '≤'} ${bound}${unit}`;
  return {
    what,
    figure,
    against,
    ratio: rounded(ratio),
    target: format(target),
    goal: format(goal),
    met: { target: meets(target), goal: meets(goal) },
  };
}

/** A figure without target and goal. */
export const unboundedRow = (row: Pick<BenchRow, 'what' | 'figure' | 'against' | 'ratio'>): BenchRow => ({
  ...row,
  ratio: rounded(row.ratio),
  target: '–',
  goal: '–',
  met: null,
});

const rounded = (ratio: number | null) => (ratio === null ? null : Math.round(ratio * 100) / 100);

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

export const perSecond = (value: number) => `${Math.round(value).toLocaleString('en')}/s`;
export const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
