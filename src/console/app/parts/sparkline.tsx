const width = 120;
const height = 28;

interface Props {
  values: number[];
  /** Whether the last value still grows: the line to it is dotted. */
  isOpen?: boolean;
}

/** A line without axes. Decorative: the figures are beside it. */
export function Sparkline({ values, isOpen = false }: Props) {
  if (values.length < 2) return null;
  const largest = Math.max(1, ...values);
  const points = values.map(
    (value, i) => `${(i / (values.length - 1)) * width},${height - 1 - (value / largest) * (height - 2)}`,
  );
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <polyline points={(isOpen ? points.slice(0, -1) : points).join(' ')} />
      {isOpen && <polyline points={points.slice(-2).join(' ')} stroke-dasharray="1.5 2.5" />}
    </svg>
  );
}
