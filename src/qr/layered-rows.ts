import { ByteLru } from '../lib/byte-lru.ts';
import { mix, rgbOf } from './color.ts';
import type { Composition, SceneOptions } from './composition.ts';
import type { Layout } from './layout.ts';
import { drawOverlay, overlayKey, paintOverlay, touchesSymbol } from './overlay.ts';
import { wordOf } from './pixel-word.ts';
import { upFilter } from './png-filters.ts';
import { distinctFills, partsOf, placeTiles } from './raster.ts';
import { levels, type Tile } from './tile.ts';

const channels = 3;

/**
 * A background with logo and frame, as the pixels that differ from the one above them: for each its byte in the rows of a
 * PNG, and the difference of its three channels. These are few, except in a photo.
 */
interface Base {
  /** Undefined if logo or frame cover a part of the symbol, so that its colors do not simply add up with theirs. */
  readonly changes: Uint32Array | undefined;
  readonly byteLength: number;
}

/** Codes of one account often share logo, frame and size. With a photo as its logo, a base of 512 px has about 120 KB. */
const maxCachedBytes = 8 * 1024 * 1024;
const cached = new ByteLru<Base>(maxCachedBytes);

/**
 * The rows of an RGB PNG with logo or frame, from what a cache has of them and the symbol. Undefined if it has gradients,
 * is transparent, or its logo or frame covers a part of the symbol.
 */
export async function layeredRows(
  composition: Composition,
  layout: Layout,
  options: SceneOptions,
): Promise<Uint8Array | undefined> {
  const { background, geometry, fills } = composition;
  const colors = distinctFills(fills).filter((fill) => typeof fill === 'string');
  if (typeof background !== 'string' || colors.length < distinctFills(fills).length) return undefined;
  const { changes } = await baseOf(composition, background, layout, options);
  if (changes === undefined) return undefined;
  const stride = strideOf(layout);
  const rows = new Uint8Array(stride * layout.height);
  for (let at = 0; at < rows.length; at += stride) rows[at] = upFilter;
  for (let i = 0; i < changes.length; i += 2) {
    const [at, delta] = [changes[i] as number, changes[i + 1] as number];
    rows[at] = delta;
    rows[at + 1] = delta >>> 8;
    rows[at + 2] = delta >>> 16;
  }
  const palette = paletteOf(background, colors);
  const colored = new Map<Tile, Uint8Array>();
  placeTiles(partsOf(geometry, fills), layout, (tile, x, y) => {
    const deltas = colored.get(tile) ?? coloredDeltas(tile, palette);
    colored.set(tile, deltas);
    addTile(rows, y * stride + 1 + x * channels, stride, tile, deltas);
  });
  return rows;
}

const strideOf = ({ size }: Layout) => 1 + size * channels;

/** The color of each value that a pixel can have (see `Tile`). */
function paletteOf(background: string, colors: readonly string[]): Uint32Array {
  const palette = new Uint32Array(1 + colors.length * levels);
  palette[0] = wordOf(rgbOf(background));
  for (const [i, color] of colors.entries())
    for (let level = 1; level <= levels; level++)
      palette[i * levels + level] = wordOf(mix(rgbOf(background), rgbOf(color), level / levels));
  return palette;
}

/** The differences of a tile in each channel. */
function coloredDeltas({ values, deltas }: Tile, palette: Uint32Array): Uint8Array {
  const colored = new Uint8Array(values.length * channels);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    const delta = channelDeltas(palette[value] as number, palette[(value - (deltas[i] as number)) & 0xff] as number);
    for (let channel = 0; channel < channels; channel++) colored[i * channels + channel] = delta >>> (8 * channel);
  }
  return colored;
}

function addTile(rows: Uint8Array, origin: number, stride: number, tile: Tile, deltas: Uint8Array): void {
  for (let i = 0, from = 0; i < tile.rows.length; i++, from += channels) {
    const at = origin + (tile.rows[i] as number) * stride + (tile.columns[i] as number) * channels;
    rows[at] = (rows[at] as number) + (deltas[from] as number);
    rows[at + 1] = (rows[at + 1] as number) + (deltas[from + 1] as number);
    rows[at + 2] = (rows[at + 2] as number) + (deltas[from + 2] as number);
  }
}

async function baseOf(
  composition: Composition,
  background: string,
  layout: Layout,
  options: SceneOptions,
): Promise<Base> {
  const key = `${background} ${overlayKey(composition, layout, options)}`;
  const known = cached.get(key);
  if (known !== undefined) return known;
  const changes = await drawChanges(composition, background, layout, options);
  const base = { changes, byteLength: changes?.byteLength ?? 0 };
  cached.set(key, base);
  return base;
}

async function drawChanges(
  composition: Composition,
  background: string,
  layout: Layout,
  options: SceneOptions,
): Promise<Uint32Array | undefined> {
  const overlay = await drawOverlay(composition, layout, options);
  if (overlay !== undefined && touchesSymbol(overlay, composition, layout)) return undefined;
  const words = new Uint32Array(layout.size * layout.height).fill(wordOf(rgbOf(background)));
  if (overlay !== undefined) paintOverlay(words, overlay);
  return changesOf(words, layout);
}

function changesOf(words: Uint32Array, layout: Layout): Uint32Array {
  const { size: width } = layout;
  const above = (i: number) => (i < width ? 0 : (words[i - width] as number));
  let count = 0;
  for (let i = 0; i < words.length; i++) if (words[i] !== above(i)) count++;
  const changes = new Uint32Array(count * 2);
  for (let i = 0, to = 0; i < words.length; i++) {
    const word = words[i] as number;
    if (word === above(i)) continue;
    changes[to++] = Math.floor(i / width) * strideOf(layout) + 1 + (i % width) * channels;
    changes[to++] = channelDeltas(word, above(i));
  }
  return changes;
}

/** The differences of red, green and blue, each modulo 256. */
function channelDeltas(word: number, from: number): number {
  const delta = (shift: number) => (((word >>> shift) - (from >>> shift)) & 0xff) << shift;
  return delta(0) | delta(8) | delta(16);
}
