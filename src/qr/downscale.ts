import type { Pixels } from './png-file.ts';

/** Reduces an image by averaging the pixels that each new pixel covers; renderers that interpolate lose thin lines. */
export function downscale({ width, height, rgba }: Pixels, toWidth: number, toHeight: number): Pixels {
  const to = new Uint8Array(toWidth * toHeight * 4);
  const columns = spans(width, toWidth);
  const rows = spans(height, toHeight);
  for (let y = 0; y < toHeight; y++) {
    const row = rows[y] as Span;
    for (let x = 0; x < toWidth; x++) {
      const column = columns[x] as Span;
      let [red, green, blue, alpha, area] = [0, 0, 0, 0, 0];
      for (let fromY = row.first; fromY < row.end; fromY++) {
        const rowWeight = weightOf(row, fromY);
        for (let fromX = column.first; fromX < column.end; fromX++) {
          const at = (fromY * width + fromX) * 4;
          const weight = rowWeight * weightOf(column, fromX);
          const opaque = weight * (rgba[at + 3] as number);
          red += (rgba[at] as number) * opaque;
          green += (rgba[at + 1] as number) * opaque;
          blue += (rgba[at + 2] as number) * opaque;
          alpha += opaque;
          area += weight;
        }
      }
      if (alpha === 0) continue;
      const at = (y * toWidth + x) * 4;
      to[at] = Math.round(red / alpha);
      to[at + 1] = Math.round(green / alpha);
      to[at + 2] = Math.round(blue / alpha);
      to[at + 3] = Math.round(alpha / area);
    }
  }
  return { width: toWidth, height: toHeight, rgba: to };
}

/** The source pixels of a new pixel; the first and the last can be covered in part. */
interface Span {
  start: number;
  stop: number;
  first: number;
  end: number;
}

function spans(from: number, to: number): Span[] {
  return Array.from({ length: to }, (_, i) => {
    const [start, stop] = [(i * from) / to, ((i + 1) * from) / to];
    return { start, stop, first: Math.floor(start), end: Math.min(from, Math.ceil(stop)) };
  });
}

const weightOf = ({ start, stop }: Span, pixel: number) => Math.min(stop, pixel + 1) - Math.max(start, pixel);
