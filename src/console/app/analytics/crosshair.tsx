import { useState } from 'preact/hooks';

interface Props {
  /** The number of buckets. */
  count: number;
  textOf(index: number): string;
  /** Undefined when the focus leaves the chart. */
  onIndex(index: number | undefined): void;
}

/** Moves the crosshair of a chart by the keyboard, from the newest bucket on. */
export function Crosshair({ count, textOf, onIndex }: Props) {
  const [current, setCurrent] = useState<number>();
  const index = Math.min(current ?? count, count - 1);
  return (
    <input
      type="range"
      class="crosshair"
      aria-label="Scans at"
      min={0}
      max={count - 1}
      value={index}
      aria-valuetext={textOf(index)}
      onInput={(event) => {
        const next = Number(event.currentTarget.value);
        setCurrent(next);
        onIndex(next);
      }}
      onFocus={() => onIndex(index)}
      onBlur={() => onIndex(undefined)}
    />
  );
}
