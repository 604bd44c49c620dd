import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { number, visitors as visitorsText } from '../format.ts';
import { useTheme } from '../theme.ts';
import type { TimeSeries } from '../types.ts';
import { type Interval, startOf } from './period.ts';

const heightPx = 280;
/** With less space per bar, the chart is a line. */
const minBarWidthPx = 7;
const intervalSeconds: Record<Interval, number> = { hour: 3_600, day: 86_400, week: 604_800, month: 2_629_800 };

const secondsOf = (date: string) => startOf(date) / 1000;

/** Hours are times, which are shown in the time zone; days and months are names, which `startOf` has put into UTC. */
const zoneOf = (interval: Interval, timezone: string) => (interval === 'hour' ? timezone : 'UTC');

const formats = {
  hour: { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  day: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  week: { day: 'numeric', month: 'short', year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
  axisHour: { hour: '2-digit', minute: '2-digit' },
  axisDay: { day: 'numeric', month: 'short' },
  axisMonth: { month: 'short', year: '2-digit' },
} satisfies Record<string, Intl.DateTimeFormatOptions>;

const format = (name: keyof typeof formats, seconds: number, timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { ...formats[name], timeZone }).format(seconds * 1000);

export function bucketName(date: string, interval: Interval, timezone: string): string {
  const text = format(interval, secondsOf(date), zoneOf(interval, timezone));
  return interval === 'week' ? `Week of ${text}` : text;
}

/** The label of an axis mark: a time, a day or a month, depending on the distance between marks. */
function axisLabel(seconds: number, markDistance: number, timeZone: string): string {
  const clock = format('axisHour', seconds, timeZone);
  if (markDistance < 86_400 && clock !== '00:00') return clock;
  return format(markDistance < 28 * 86_400 ? 'axisDay' : 'axisMonth', seconds, timeZone);
}

/** Resolves a CSS custom property to a color that a canvas accepts. */
function colorOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

interface Axis {
  count: number;
  interval: Interval;
  timezone: string;
}

function optionsFor(
  element: HTMLElement,
  { count, interval, timezone }: Axis,
  onBucket: (index: number | null) => void,
) {
  const timeZone = zoneOf(interval, timezone);
  const [scans, visitors, previous, grid, text] = ['--chart-1', '--chart-2', '--chart-before', '--line', '--muted'].map(
    (name) => colorOf(element, name),
  ) as [string, string, string, string, string];
  const scansFill = scans.replace(/^rgb\(/, 'rgba(').replace(/\)$/, ', 0.14)');
  const font = '12px system-ui, sans-serif';
  const bars = uPlot.paths.bars?.({ size: [0.72, 40], radius: 0.15 });
  const hasBars = element.clientWidth / count >= minBarWidthPx;
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: heightPx,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timeZone === 'UTC' ? 'Etc/UTC' : timeZone),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      // Half a bucket on either side keeps the first and last bar from being cut off.
      x: { range: (_u, min, max) => [min - intervalSeconds[interval] / 2, max + intervalSeconds[interval] / 2] },
      y: { range: (_u, _min, max) => [0, Math.max(4, max * 1.08)] },
    },
    axes: [
      {
        stroke: text,
        font,
        space: 72,
        size: 34,
        grid: { show: false },
        ticks: { stroke: grid, size: 4 },
        ...(interval === 'month' ? { incrs: [1, 2, 3, 6, 12].map((months) => months * 30 * 86_400) } : {}),
        values: (_u, splits, _axis, _space, markDistance) =>
          splits.map((seconds) => axisLabel(seconds, markDistance, timeZone)),
      },
      {
        stroke: text,
        font,
        size: 52,
        space: 44,
        grid: { stroke: grid, width: 1 },
        ticks: { show: false },
        incrs: [1, 2, 5].flatMap((n) => Array.from({ length: 9 }, (_, i) => n * 10 ** i)).sort((a, b) => a - b),
        values: (_u, splits) => splits.map((value) => number(value)),
      },
    ],
    series: [
      {},
      hasBars
        ? {
            label: 'Scans',
            fill: scans,
            width: 0,
            ...(bars === undefined ? {} : { paths: bars }),
            points: { show: false },
          }
        : { label: 'Scans', stroke: scans, fill: scansFill, width: 2, points: { show: false } },
      { label: 'Visitors', stroke: visitors, width: 2, points: { show: false } },
      { label: 'Before', stroke: previous, width: 1.5, dash: [4, 4], points: { show: false } },
    ],
    hooks: { setCursor: [(u) => onBucket(u.cursor.idx ?? null)] },
  };
  return options;
}

interface Props {
  series: TimeSeries['data'];
  /** Scans in the period before, for each bucket of `series`. */
  previous: (number | undefined)[];
  interval: Interval;
  /** What the period before is called. */
  before: string;
  timezone: string;
}

/** Scans and visitors over time. Hidden from screen readers, which use the table below it. */
export function TimeChart({ series, previous, interval, before, timezone }: Props) {
  const theme = useTheme();
  const container = useRef<HTMLDivElement>(null);
  const [bucket, setBucket] = useState<number | null>(null);

  useEffect(() => {
    const element = container.current;
    if (element === null) return undefined;
    const data: uPlot.AlignedData = [
      series.map(({ date }) => secondsOf(date)),
      series.map(({ total_scans }) => total_scans),
      series.map(({ unique_visitors }) => unique_visitors),
      previous,
    ];
    const chart = new uPlot(
      optionsFor(element, { count: series.length, interval, timezone }, setBucket),
      data,
      element,
    );
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0 && element.clientWidth !== chart.width)
        chart.setSize({ width: element.clientWidth, height: heightPx });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
    // `previous` is computed from the same answer as `series`, and new with every render.
  }, [series, interval, timezone, theme]);

  const shown = bucket === null ? undefined : series[bucket];
  const shownBefore = bucket === null ? undefined : previous[bucket];
  return (
    <figure class="chart">
      <figcaption class="row">
        <span class="key">Scans{shown !== undefined && <strong>{number(shown.total_scans)}</strong>}</span>
        <span class="key visitors">
          Visitors{shown !== undefined && <strong>{visitorsText(shown.unique_visitors)}</strong>}
        </span>
        <span class="key before">
          Scans in {before}
          {shownBefore !== undefined && <strong>{number(shownBefore)}</strong>}
        </span>
        <span class="bucket">
          {shown === undefined
            ? `${interval === 'hour' ? 'Times' : 'Days'} in ${timezone}`
            : bucketName(shown.date, interval, timezone)}
        </span>
      </figcaption>
      <div ref={container} class="canvas" aria-hidden="true" />
    </figure>
  );
}
