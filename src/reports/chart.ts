import { colors } from './colors.ts';
import type { Box, ReportPage } from './page.ts';
import type { ReportContent, ReportWriting } from './report.ts';

const label = { sizeMm: 2.8, color: colors.muted } as const;
const gridLines = 4;
const axisWidthMm = 14;
const axisHeightMm = 6;

/** A round number that is not below `value`, which the lines of the grid divide: 1, 2, 4 or 8 times a power of ten. */
export function roundedUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, gridLines)));
  return [1, 2, 4, 8, 10].map((step) => Math.max(step * power, gridLines)).find((step) => step >= value) ?? 20 * power;
}

type Days = Pick<ReportContent, 'days' | 'daysBefore'>;

/** Bars for the scans of each day, and a line for the scans of the period before. */
export function drawChart(
  page: ReportPage,
  { days, daysBefore }: Days,
  { count, day }: Pick<ReportWriting, 'count' | 'day'>,
  box: Box,
): void {
  const max = roundedUp(Math.max(0, ...days.map(({ scans }) => scans), ...daysBefore));
  const area = { x: box.x + axisWidthMm, y: box.y, width: box.width - axisWidthMm, height: box.height - axisHeightMm };
  const bottom = area.y + area.height;
  const yOf = (scans: number) => bottom - (scans / max) * area.height;
  for (let i = 0; i <= gridLines; i++) {
    const value = (max / gridLines) * i;
    page.rect({ x: area.x, y: yOf(value) - 0.1, width: area.width, height: 0.2 }, colors.line);
    page.text(count(value), area.x - 2, yOf(value) + 1, { ...label, align: 'right' });
  }
  const labelOf = (date: string) => (days.length <= 7 ? day(date) : String(Number(date.slice(8))));
  const stepMm = area.width / Math.max(days.length, 1);
  for (const [i, { date, scans }] of days.entries()) {
    const height = bottom - yOf(scans);
    if (scans > 0)
      page.rect(
        { x: area.x + i * stepMm + stepMm * 0.15, y: bottom - height, width: stepMm * 0.7, height },
        colors.bar,
      );
    if (isLabelled(i, days.length))
      page.text(labelOf(date), area.x + (i + 0.5) * stepMm, bottom + 4.5, { ...label, align: 'center' });
  }
  const points = daysBefore
    .slice(0, days.length)
    .map((scans, i): [number, number] => [area.x + (i + 0.5) * stepMm, yOf(scans)]);
  if (daysBefore.every((scans) => scans === 0)) return;
  // On white, so that it stands out from the bars.
  page.path(points, 1.3, colors.paper);
  page.path(points, 0.6, colors.before);
}

/** Every day of a week, every fifth day of a month. */
const isLabelled = (index: number, count: number) => count <= 7 || index === 0 || (index + 1) % 5 === 0;

/** What bars and line are. */
export function drawLegend(
  page: ReportPage,
  x: number,
  baseline: number,
  names: { now: string; before: string },
): void {
  page.rect({ x, y: baseline - 2.2, width: 2.6, height: 2.6 }, colors.bar);
  page.text(names.now, x + 4, baseline, label);
  page.path(
    [
      [x + 62, baseline - 1],
      [x + 66, baseline - 1],
    ],
    0.5,
    colors.before,
  );
  page.text(names.before, x + 68, baseline, label);
}
