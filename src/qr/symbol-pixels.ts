import { mix, rgbOf } from './color.ts';
import type { Composition } from './composition.ts';
import type { Fill } from './fill.ts';
import { gradientPainter } from './gradient-pixels.ts';
import type { Layout } from './layout.ts';
import { paintedOver, wordOf } from './pixel-word.ts';
import { addShapes, distinctFills, partsOf } from './raster.ts';
import { levels } from './tile.ts';

// Below, `values` are the differences between pixel rows at first, and become the values themselves.

/** Draws the background and the symbol, with the shapes and the anti-aliasing of `rasterOf`. One number per pixel. */
export function symbolPixels({ background, geometry, fills }: Composition, layout: Layout): Uint32Array<ArrayBuffer> {
  const { size: width, height } = layout;
  const deltas = new Uint8Array(width * height);
  addShapes(deltas, width, 0, partsOf(geometry, fills), layout);
  const colors = distinctFills(fills);
  const isSolid = (fill: Fill | undefined): fill is string | undefined => typeof fill !== 'object';
  return isSolid(background) && colors.every((color) => typeof color === 'string')
    ? solidPixels(deltas, background, colors, width)
    : gradientPixels(deltas, background, colors, layout);
}

/** Looks up the color of each value that differs from the one above it. */
function solidPixels(
  values: Uint8Array,
  background: string | undefined,
  colors: readonly string[],
  width: number,
): Uint32Array<ArrayBuffer> {
  const palette = paletteOf(background, colors);
  const words = new Uint32Array(values.length);
  for (let i = 0; i < width; i++) words[i] = palette[values[i] as number] as number;
  for (let i = width; i < words.length; i++) {
    const delta = values[i] as number;
    const value = (delta + (values[i - width] as number)) & 0xff;
    values[i] = value;
    words[i] = delta === 0 ? (words[i - width] as number) : (palette[value] as number);
  }
  return words;
}

/** The color of each value that a pixel can have (see `addShapes`). */
export function paletteOf(background: string | undefined, colors: readonly string[]): Uint32Array {
  const palette = new Uint32Array(1 + colors.length * levels);
  if (background !== undefined) palette[0] = wordOf(rgbOf(background));
  for (const [i, color] of colors.entries())
    for (let level = 1; level <= levels; level++)
      palette[i * levels + level] =
        background === undefined
          ? wordOf(rgbOf(color), Math.round((255 * level) / levels))
          : wordOf(mix(rgbOf(background), rgbOf(color), level / levels));
  return palette;
}

function gradientPixels(
  values: Uint8Array,
  background: Fill | undefined,
  colors: readonly Fill[],
  layout: Layout,
): Uint32Array<ArrayBuffer> {
  const { size: width, height } = layout;
  for (let i = width; i < values.length; i++) values[i] = (values[i] as number) + (values[i - width] as number);
  const paintBackground = painterOf(background, layout);
  const painters = colors.map((color) => painterOf(color, layout));
  const words = new Uint32Array(values.length);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const value = values[i] as number;
      const level = value === 0 ? 0 : ((value - 1) % levels) + 1;
      const under = level === levels ? 0 : paintBackground(x, y);
      const painter = painters[Math.floor((value - 1) / levels)];
      words[i] = painter === undefined ? under : covered(under, painter(x, y), level / levels);
    }
  }
  return words;
}

type Painter = (x: number, y: number) => number;

function painterOf(fill: Fill | undefined, layout: Layout): Painter {
  if (typeof fill === 'object') return gradientPainter(fill, layout);
  const word = fill === undefined ? 0 : wordOf(rgbOf(fill));
  return () => word;
}

/** An opaque color over a share of a pixel. */
function covered(under: number, color: number, share: number): number {
  if (share === 1) return color;
  const channel = (shift: number) => ((color >>> shift) & 0xff) * share;
  return paintedOver(under, channel(0), channel(8), channel(16), share);
}
