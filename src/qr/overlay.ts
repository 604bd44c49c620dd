import { ByteLru } from '../lib/byte-lru.ts';
import type { Composition, SceneOptions } from './composition.ts';
import type { Layout } from './layout.ts';
import { paintedOver } from './pixel-word.ts';
import { type Pixels, wordsOf } from './png-file.ts';
import { renderPremultiplied } from './render.ts';
import { scaledLogo } from './scaled-logo.ts';
import { overlayShapes, type Shape } from './scene.ts';
import { writeSvg } from './svg.ts';

/**
 * The pixels of a logo and a frame, as runs of the same color: for each run its first pixel, the pixel after its last one,
 * and its color, with alpha in the highest byte and multiplied into the others. A frame is few runs, so that this takes a
 * fraction of the memory of its pixels.
 */
export type Overlay = Uint32Array<ArrayBuffer>;

const runWords = 3;

/** Codes of one account often share logo, frame and size. With a photo as its logo, an overlay of 512 px has about 130 KB. */
const maxCachedBytes = 8 * 1024 * 1024;
const cached = new ByteLru<Overlay>(maxCachedBytes);

/** What is painted over the symbol, from the cache if possible; undefined if nothing is. */
export async function overlayOf(
  composition: Composition,
  layout: Layout,
  options: SceneOptions,
): Promise<Overlay | undefined> {
  const key = overlayKey(composition, layout, options);
  const overlay = cached.get(key) ?? (await drawOverlay(composition, layout, options));
  if (overlay !== undefined) cached.set(key, overlay);
  return overlay;
}

/** Like `overlayOf`, without the cache. */
export async function drawOverlay(
  composition: Composition,
  layout: Layout,
  options: SceneOptions,
): Promise<Overlay | undefined> {
  const { geometry, area } = composition;
  const shapes = await Promise.all(
    overlayShapes(composition, options).map((shape) => withScaledLogo(shape, layout.scale)),
  );
  if (shapes.length === 0) return undefined;
  const svg = writeSvg({ side: geometry.side, area, background: undefined, shapes }, layout, '');
  return runsOf(await renderPremultiplied(svg));
}

/** Names what `drawOverlay` draws. The picture of a logo never changes, so its id stands for it. */
export const overlayKey = ({ look, geometry }: Composition, layout: Layout, { logo, font }: SceneOptions): string =>
  JSON.stringify([logo && look.logo, look.frame, geometry.side, layout, font !== undefined]);

/** Whether an overlay covers a pixel of a module that is drawn; modules under a logo are not. */
export function touchesSymbol(overlay: Overlay, { geometry, placed }: Composition, layout: Layout): boolean {
  const { size: width, scale, offset, offsetY } = layout;
  const isDrawn = (pixel: number) => {
    const x = Math.floor(((pixel % width) - offset) / scale);
    const y = Math.floor((Math.floor(pixel / width) - offsetY) / scale);
    const isInside = x >= 0 && y >= 0 && x < geometry.side && y < geometry.side;
    return isInside && placed?.isLeftOut(x, y) !== true;
  };
  for (let at = 0; at < overlay.length; at += runWords)
    for (let pixel = overlay[at] as number; pixel < (overlay[at + 1] as number); pixel++)
      if (isDrawn(pixel)) return true;
  return false;
}

async function withScaledLogo(shape: Shape, scale: number): Promise<Shape> {
  if (shape.kind !== 'logo' || shape.art.kind !== 'raster') return shape;
  return { ...shape, art: await scaledLogo(shape.art, shape.width * scale) };
}

function runsOf({ rgba }: Pixels): Overlay {
  const words = wordsOf(rgba);
  const runs = new Uint32Array(countRuns(words) * runWords);
  let at = 0;
  for (let start = 0, end = 0; start < words.length; start = end) {
    const word = words[start] as number;
    for (end = start + 1; end < words.length && words[end] === word; ) end++;
    if (word === 0) continue;
    runs[at++] = start;
    runs[at++] = end;
    runs[at++] = word;
  }
  return runs;
}

function countRuns(words: Uint32Array): number {
  let count = 0;
  let before = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as number;
    if (word !== before && word !== 0) count++;
    before = word;
  }
  return count;
}

/** Paints an overlay over pixels, in place. */
export function paintOverlay(words: Uint32Array, overlay: Overlay): void {
  for (let at = 0; at < overlay.length; at += runWords) {
    const [start, end] = [overlay[at] as number, overlay[at + 1] as number];
    const color = overlay[at + 2] as number;
    const alpha = color >>> 24;
    if (alpha === 255) {
      // Photos have a run for each pixel.
      if (end === start + 1) words[start] = color;
      else words.fill(color, start, end);
      continue;
    }
    const [red, green, blue] = [color & 0xff, (color >>> 8) & 0xff, (color >>> 16) & 0xff];
    for (let i = start; i < end; i++) words[i] = paintedOver(words[i] as number, red, green, blue, alpha / 255);
  }
}
