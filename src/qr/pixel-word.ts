import type { Rgb } from './color.ts';

/** An opaque pixel as one number, with alpha in its highest byte (see `wordsOf`). */
export function wordOf([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
