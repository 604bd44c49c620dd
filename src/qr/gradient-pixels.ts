import { mix, rgbOf } from './color.ts';
import type { GradientFill, Stop } from './fill.ts';
import type { Layout } from './layout.ts';
import { wordOf } from './pixel-word.ts';

/** Steps from the start of a gradient to its end: as many as the largest picture has pixels. */
const steps = 4096;

/** Returns the color of a pixel, sampled at its center. */
export function gradientPainter(fill: GradientFill, layout: Layout): (x: number, y: number) => number {
  const colors = Uint32Array.from({ length: steps + 1 }, (_, i) => colorAt(fill.stops, i / steps));
  const at = (share: number) => colors[share <= 0 ? 0 : share >= 1 ? steps : Math.round(share * steps)] as number;
  const { scale, offset, offsetY } = layout;
  if (fill.type === 'radial') {
    const [centerX, centerY] = [fill.cx * scale + offset - 0.5, fill.cy * scale + offsetY - 0.5];
    const radius = fill.r * scale;
    return (x, y) => at(Math.sqrt((x - centerX) ** 2 + (y - centerY) ** 2) / radius);
  }
  const [dx, dy] = [fill.x2 - fill.x1, fill.y2 - fill.y1];
  const length = (dx * dx + dy * dy) * scale;
  const [startX, startY] = [fill.x1 * scale + offset - 0.5, fill.y1 * scale + offsetY - 0.5];
  return (x, y) => at(((x - startX) * dx + (y - startY) * dy) / length);
}

/** `stops` are in order. */
function colorAt(stops: readonly Stop[], share: number): number {
  const next = stops.findIndex(({ offset }) => offset > share);
  const from = stops.at(next === -1 ? -1 : Math.max(0, next - 1));
  const to = stops.at(next);
  if (from === undefined || to === undefined) throw new RangeError('a gradient needs a color');
  const span = to.offset - from.offset;
  return wordOf(mix(rgbOf(from.color), rgbOf(to.color), span <= 0 ? 0 : (share - from.offset) / span));
}
