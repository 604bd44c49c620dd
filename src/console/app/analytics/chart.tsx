import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { number, plural, visitors as visitorsText } from '../format.ts';
import { useTheme } from '../theme.ts';
import type { TimeSeries } from '../types.ts';
import { useModule } from '../use-asset.ts';
import { bootstrap } from '../welcome.ts';
import { axisLabel, bucketLabel, secondsOf, zoneOf } from './chart-labels.ts';
import { ChartMarks } from './chart-marks.tsx';
import { Crosshair } from './crosshair.tsx';
import type { Mark } from './marks.ts';
import { type Interval, isSoFar } from './period.ts';

const heightPx = 280;
/** With less space per bar, the chart is a line. */
const minBarWidthPx = 7;
const intervalSeconds: Record<Interval, number> = { hour: 3_600, day: 86_400, week: 604_800, month: 2_629_800 };

const monthDays = [30, 60, 90, 180, 360];
/** How many days can be between marks of the axis: no hours, where a bucket is a day or longer. */
const axisDays: Record<Exclude<Interval, 'hour'>, number[]> = {
  day: [1, 2, 3, 4, 5, 6, 7, 10, 14, ...monthDays],
  week: [7, 14, ...monthDays],
  month: monthDays,
};

/** Resolves a CSS custom property to a color that a canvas accepts. */
function colorOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Stripes in a color, for a bar that still grows. */
function hatched(color: string): CanvasPattern | string {
  const size = 6 * devicePixelRatio;
  const tile = document.createElement('canvas');
  tile.width = size;
  tile.height = size;
  const context = tile.getContext('2d');
  if (context === null) return color;
  context.strokeStyle = color;
  context.lineWidth = size / 3;
  context.beginPath();
  for (const shift of [-size, 0, size]) {
    context.moveTo(shift, size);
    context.lineTo(shift + size, 0);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? color;
}

interface Axis {
  /** Otherwise the chart is a line. */
  hasBars: boolean;
  interval: Interval;
  timezone: string;
}

/** The bucket under the pointer, and where it is in the chart. */
interface Pointed {
  index: number;
  left: number;
  isRight: boolean;
}

interface ChartEvents {
  onPoint(pointed: Pointed | undefined): void;
  /** Called when the places of buckets may have changed. */
  onDraw(chart: uPlot): void;
}

function optionsFor(
  Plot: typeof uPlot,
  element: HTMLElement,
  { hasBars, interval, timezone }: Axis,
  { onPoint, onDraw }: ChartEvents,
) {
  const timeZone = zoneOf(interval, timezone);
  const [scans, previous, grid, text] = ['--chart-1', '--chart-before', '--line', '--muted'].map((name) =>
    colorOf(element, name),
  ) as [string, string, string, string];
  const scansFill = scans.replace(/^rgb\(/, 'rgba(').replace(/\)$/, ', 0.14)');
  const font = '12px system-ui, sans-serif';
  const bars = Plot.paths.bars?.({ size: [0.72, 40], radius: 0.15 });
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: heightPx,
    tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1000), timeZone === 'UTC' ? 'Etc/UTC' : timeZone),
    legend: { show: false },
    // The crosshair is always at a bucket, also with the pointer between two of them.
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 8 },
      move: (u, left, top) => [left < 0 ? left : bucketLeft(u, u.posToIdx(left)), top],
    },
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
        ...(interval === 'hour' ? {} : { incrs: axisDays[interval].map((days) => days * 86_400) }),
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
        ? { label: 'Scans', fill: scans, width: 0, ...drawnAs(bars), points: { show: false } }
        : { label: 'Scans', stroke: scans, fill: scansFill, width: 2, points: { show: false } },
      hasBars
        ? { label: 'So far', fill: () => hatched(scans), width: 0, ...drawnAs(bars), points: { show: false } }
        : { label: 'So far', stroke: scans, fill: scansFill, width: 2, dash: [2, 3], points: { show: false } },
      { label: 'Before', stroke: previous, width: 1.5, dash: [4, 4], points: { show: false } },
    ],
    hooks: { setCursor: [(u) => onPoint(pointedIn(u))], draw: [onDraw] },
  };
  return options;
}

const drawnAs = (paths: uPlot.Series.PathBuilder | undefined) => (paths === undefined ? {} : { paths });

const bucketLeft = (u: uPlot, index: number) => u.valToPos(u.data[0][index] ?? 0, 'x');

/** Where a bucket is in the chart. */
function placeOf(u: uPlot, index: number): Pointed {
  const left = bucketLeft(u, index);
  return {
    index,
    left: left + u.bbox.left / devicePixelRatio,
    isRight: left > u.bbox.width / devicePixelRatio / 2,
  };
}

/** Moves the crosshair to a bucket, or away from the chart. */
function pointAt(u: uPlot, index: number | undefined): void {
  u.setCursor(index === undefined ? { left: -10, top: -10 } : { left: bucketLeft(u, index), top: 0 });
}

function pointedIn(u: uPlot): Pointed | undefined {
  const { idx } = u.cursor;
  return idx === null || idx === undefined ? undefined : placeOf(u, idx);
}

/** The scans of buckets that are over, and the scans of the last one if it is not, from where the line to it begins. */
function splitAtNow(series: TimeSeries['data'], isOpen: boolean, hasBars: boolean) {
  const counts = series.map(({ total_scans }) => total_scans);
  if (!isOpen) return { over: counts, soFar: counts.map(() => null) };
  const last = counts.length - 1;
  return {
    over: counts.map((count, i) => (i === last ? null : count)),
    soFar: counts.map((count, i) => (i === last || (!hasBars && i === last - 1) ? count : null)),
  };
}

interface Props {
  series: TimeSeries['data'];
  /** Scans in the period before, for each bucket of `series`. */
  previous: (number | undefined)[];
  interval: Interval;
  /** What the period before is called. */
  before: string;
  timezone: string;
  marks: Mark[];
}

/** Scans over time. Screen readers read the bucket at the crosshair, or the table below. */
export function TimeChart({ series, previous, interval, before, timezone, marks }: Props) {
  const theme = useTheme();
  const Plot = useModule<typeof uPlot>(bootstrap.plot_url);
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  /** The bucket that was chosen by the keyboard; a chart that is drawn again shows it again. */
  const chosen = useRef<number | undefined>(undefined);
  const [pointed, setPointed] = useState<Pointed>();
  const [places, setPlaces] = useState<Pointed[]>([]);
  const last = series.at(-1);
  const isOpen = last !== undefined && isSoFar(last.date, interval, timezone);

  // At once: a page that is about to be printed has no next frame.
  useLayoutEffect(() => {
    const element = container.current;
    if (element === null || Plot === undefined) return undefined;
    const hasBars = element.clientWidth / series.length >= minBarWidthPx;
    const { over, soFar } = splitAtNow(series, isOpen, hasBars);
    const data: uPlot.AlignedData = [series.map(({ date }) => secondsOf(date)), over, soFar, previous];
    const onDraw = (drawn: uPlot) => setPlaces(series.map((_, index) => placeOf(drawn, index)));
    const options = optionsFor(Plot, element, { hasBars, interval, timezone }, { onPoint: setPointed, onDraw });
    const chart = new Plot(options, data, element);
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0 && element.clientWidth !== chart.width)
        chart.setSize({ width: element.clientWidth, height: heightPx });
    });
    observer.observe(element);
    plot.current = chart;
    pointAt(chart, chosen.current);
    return () => {
      observer.disconnect();
      chart.destroy();
      plot.current = undefined;
    };
    // `previous` is computed from the same response as `series`, and new with every render.
  }, [Plot, series, interval, timezone, theme, isOpen]);

  const placed = marks.flatMap(({ index, texts }) => {
    const [place, bucket] = [places[index], series[index]];
    return place === undefined || bucket === undefined
      ? []
      : [{ ...place, texts, label: bucketLabel(bucket.date, interval, timezone) }];
  });
  /** What the chart says at a bucket: its name, then its figures. */
  const pointLines = (index: number): string[] => {
    const [bucket, scansBefore] = [series[index], previous[index]];
    if (bucket === undefined) return [];
    return [
      bucketLabel(bucket.date, interval, timezone),
      plural(bucket.total_scans, 'scan'),
      `${visitorsText(bucket.unique_visitors)} visitors`,
      ...(scansBefore === undefined ? [] : [`${number(scansBefore)} in ${before}`]),
    ];
  };
  const shown = pointed === undefined ? [] : pointLines(pointed.index);
  return (
    <figure class="chart">
      <figcaption class="row">
        <span class="key scans">Scans</span>
        {isOpen && <span class="key so-far">So far</span>}
        <span class="key before">Scans in {before}</span>
        {placed.length > 0 && <span class="key changed">Destination changed</span>}
      </figcaption>
      <div class="plot">
        <div ref={container} class="canvas" aria-hidden="true" />
        <Crosshair
          count={series.length}
          textOf={(index) => pointLines(index).join(', ')}
          onIndex={(index) => {
            chosen.current = index;
            if (plot.current !== undefined) pointAt(plot.current, index);
          }}
        />
        <ChartMarks marks={placed} />
        {shown.length > 0 && (
          <div
            class={`point stack gap-xs ${pointed?.isRight ? 'left-of' : ''}`}
            style={{ left: `${pointed?.left}px` }}
            aria-hidden="true"
          >
            {shown.map((line) => (
              <span key={line}>{line}</span>
            ))}
          </div>
        )}
      </div>
    </figure>
  );
}
