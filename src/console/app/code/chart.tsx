import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { number } from '../format.ts';
import { useTheme } from '../theme.ts';
import type { TimeSeries } from '../types.ts';
import type { Interval } from './period.ts';

const height = 280;
/** Narrower bars than this, in pixels, are a line instead. */
const leastBar = 7;
const lengths: Record<Interval, number> = { hour: 3_600, day: 86_400, week: 604_800, month: 2_629_800 };

/** The start of a step: `2026-03-01T09:00:00Z`, `2026-03-01` or `2026-03`. */
const secondsOf = (date: string) => Date.parse(date.length === 7 ? `${date}-01` : date) / 1000;

const utc = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
const formats = {
  hour: utc({ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
  day: utc({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
  week: utc({ day: 'numeric', month: 'short', year: 'numeric' }),
  month: utc({ month: 'long', year: 'numeric' }),
  axisHour: utc({ hour: '2-digit', minute: '2-digit' }),
  axisDay: utc({ day: 'numeric', month: 'short' }),
  axisMonth: utc({ month: 'short', year: '2-digit' }),
};

export function stepName(date: string, interval: Interval): string {
  const text = formats[interval].format(secondsOf(date) * 1000);
  return interval === 'week' ? `Week of ${text}` : text;
}

/** On the axis: times within a day, days, or months, whatever the marks stand for. */
function axisName(seconds: number, step: number): string {
  const ms = seconds * 1000;
  if (step < 86_400 && seconds % 86_400 !== 0) return formats.axisHour.format(ms);
  return (step < 28 * 86_400 ? formats.axisDay : formats.axisMonth).format(ms);
}

/** A color of the style sheet, as the canvas wants it. */
function colorOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function optionsFor(element: HTMLElement, count: number, interval: Interval, onStep: (index: number | null) => void) {
  const [scans, visitors, grid, text] = ['--chart-1', '--chart-2', '--line', '--muted'].map((name) =>
    colorOf(element, name),
  ) as [string, string, string, string];
  const faint = scans.replace(/^rgb\(/, 'rgba(').replace(/\)$/, ', 0.14)');
  const font = '12px system-ui, sans-serif';
  const bars = uPlot.paths.bars?.({ size: [0.72, 40], radius: 0.15 });
  const hasBars = element.clientWidth / count >= leastBar;
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      // Half a step on either side, so that the first and the last bar are whole.
      x: { range: (_u, min, max) => [min - lengths[interval] / 2, max + lengths[interval] / 2] },
      y: { range: (_u, _min, max) => [0, Math.max(4, max * 1.08)] },
    },
    axes: [
      {
        ...{ stroke: text, font, space: 72, size: 34, grid: { show: false }, ticks: { stroke: grid, size: 4 } },
        ...(interval === 'month' ? { incrs: [1, 2, 3, 6, 12].map((months) => months * 30 * 86_400) } : {}),
        values: (_u, splits, _axis, _space, step) => splits.map((seconds) => axisName(seconds, step)),
      },
      {
        ...{ stroke: text, font, size: 52, space: 44, grid: { stroke: grid, width: 1 }, ticks: { show: false } },
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
        : { label: 'Scans', stroke: scans, fill: faint, width: 2, points: { show: false } },
      { label: 'Visitors', stroke: visitors, width: 2, points: { show: false } },
    ],
    hooks: { setCursor: [(u) => onStep(u.cursor.idx ?? null)] },
  };
  return options;
}

/** Scans and visitors over time. The table below it says the same to who cannot see it. */
export function TimeChart({ series, interval }: { series: TimeSeries['data']; interval: Interval }) {
  const theme = useTheme();
  const element = useRef<HTMLDivElement>(null);
  const [step, setStep] = useState<number | null>(null);

  useEffect(() => {
    const holder = element.current;
    if (holder === null) return undefined;
    const data: uPlot.AlignedData = [
      series.map(({ date }) => secondsOf(date)),
      series.map(({ total_scans }) => total_scans),
      series.map(({ unique_visitors }) => unique_visitors),
    ];
    const chart = new uPlot(optionsFor(holder, series.length, interval, setStep), data, holder);
    const observer = new ResizeObserver(() => {
      if (holder.clientWidth > 0 && holder.clientWidth !== chart.width)
        chart.setSize({ width: holder.clientWidth, height });
    });
    observer.observe(holder);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [series, interval, theme]);

  const shown = step === null ? undefined : series[step];
  return (
    <figure class="chart">
      <figcaption>
        <span class="key scans">Scans{shown !== undefined && <strong>{number(shown.total_scans)}</strong>}</span>
        <span class="key visitors">
          Visitors{shown !== undefined && <strong>{number(shown.unique_visitors)}</strong>}
        </span>
        <span class="step">{shown === undefined ? 'Days are those of UTC' : stepName(shown.date, interval)}</span>
      </figcaption>
      <div ref={element} class="canvas" aria-hidden="true" />
    </figure>
  );
}
