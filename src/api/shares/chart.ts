import type { SharedFigures } from './figures.ts';

const width = 720;
const height = 200;

/** Bars as an SVG image. A figure that is not shown is a short hatched bar; screen readers get the table below it. */
export function chartOf({ series }: Pick<SharedFigures, 'series'>, label: string): string {
  const max = Math.max(1, ...series.map(({ scans }) => scans ?? 0));
  const step = width / series.length;
  const gap = Math.min(6, step * 0.2);
  const bars = series.map(({ scans }, i) => {
    const barHeight = scans === null ? 8 : (scans / max) * (height - 10);
    if (barHeight === 0) return '';
    const [x, y] = [i * step + gap / 2, height - barHeight];
    const fill = scans === null ? ' class="few"' : '';
    return `<rect${fill} x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${(step - gap).toFixed(1)}" height="${barHeight.toFixed(1)}"/>`;
  });
  return `<svg viewBox="0 0 ${width} ${height + 1}" role="img" aria-label="${label}" preserveAspectRatio="none">
${bars.join('')}<path d="M0 ${height + 0.5}H${width}"/></svg>`;
}
