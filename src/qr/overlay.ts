import type { Composition, SceneOptions } from './composition.ts';
import type { Layout } from './layout.ts';
import { wordOf } from './pixel-word.ts';
import { wordsOf } from './png-file.ts';
import { overlayShapes } from './scene.ts';
import { drawScene } from './scene-pixels.ts';

/** The pixels of a logo and a frame, with alpha multiplied into the colors. */
export type Overlay = Uint32Array;

/** Draws what is painted over the symbol; undefined if nothing is. */
export async function drawOverlay(
  composition: Composition,
  layout: Layout,
  options: SceneOptions,
): Promise<Overlay | undefined> {
  const shapes = overlayShapes(composition, options);
  if (shapes.length === 0) return undefined;
  const { geometry, area } = composition;
  const { rgba } = await drawScene({ side: geometry.side, area, background: undefined, shapes }, layout);
  return wordsOf(rgba);
}

/** Names what `drawOverlay` draws. The image of a logo never changes, so its id stands for it. */
export const overlayKey = ({ look, geometry }: Composition, layout: Layout, { logo, font }: SceneOptions): string =>
  JSON.stringify([logo && look.logo, look.frame, geometry.side, layout, font !== undefined]);

/** Whether an overlay covers a pixel of a module that is drawn; modules under a logo are not. */
export function touchesSymbol(overlay: Overlay, { geometry, placed }: Composition, layout: Layout): boolean {
  const { size: width, scale, offset, offsetY } = layout;
  const side = geometry.side * scale;
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++)
      if (
        overlay[(offsetY + y) * width + offset + x] !== 0 &&
        placed?.isLeftOut(Math.floor(x / scale), Math.floor(y / scale)) !== true
      )
        return true;
  return false;
}

/** Paints an overlay over opaque pixels, in place. */
export function paintOverlay(words: Uint32Array, overlay: Overlay): void {
  for (let i = 0; i < words.length; i++) {
    const color = overlay[i] as number;
    const remaining = 1 - (color >>> 24) / 255;
    if (remaining === 1) continue;
    const under = words[i] as number;
    const channel = (shift: number) =>
      Math.min(255, Math.round(((color >>> shift) & 0xff) + ((under >>> shift) & 0xff) * remaining));
    words[i] = remaining === 0 ? color : wordOf([channel(0), channel(8), channel(16)]);
  }
}
