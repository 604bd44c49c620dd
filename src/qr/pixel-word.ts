import type { Rgb } from './color.ts';

/** A pixel as one number, with alpha in its highest byte and not multiplied into the colors (see `wordsOf`). */
export function wordOf([red, green, blue]: Rgb, alpha = 255): number {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * Paints a color over a pixel, which may be transparent. The color has alpha (0 to 1) multiplied into its channels (0 to
 * 255).
 */
export function paintedOver(under: number, red: number, green: number, blue: number, alpha: number): number {
  const remaining = ((under >>> 24) / 255) * (1 - alpha);
  const total = alpha + remaining;
  if (total === 0) return 0;
  const channel = (over: number, shift: number) =>
    Math.min(255, Math.round((over + ((under >>> shift) & 0xff) * remaining) / total));
  return wordOf([channel(red, 0), channel(green, 8), channel(blue, 16)], Math.round(total * 255));
}
