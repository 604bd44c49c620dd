import { type Pixels, wordsOf } from './png-file.ts';

/** Draws an SVG document at its own size. No fonts are loaded: documents have outlines instead of text. */
export async function renderSvg(svg: string): Promise<Pixels> {
  return unmultiplied(await renderPremultiplied(svg));
}

/** Like `renderSvg`, with alpha multiplied into the colors, as resvg draws. */
export async function renderPremultiplied(svg: string): Promise<Pixels> {
  // Native code, loaded with the first image that needs it: most have solid colors, and neither logo nor frame.
  const { Resvg } = await import('@resvg/resvg-js');
  const image = new Resvg(svg, { font: { loadSystemFonts: false } }).render();
  return { width: image.width, height: image.height, rgba: image.pixels };
}

/** Divides the colors by alpha, in place. */
export function unmultiplied(pixels: Pixels): Pixels {
  const { rgba } = pixels;
  const words = wordsOf(rgba);
  for (let pixel = 0; pixel < words.length; pixel++) {
    const alpha = (words[pixel] as number) >>> 24;
    if (alpha === 255 || alpha === 0) continue;
    for (let channel = pixel * 4; channel < pixel * 4 + 3; channel++)
      rgba[channel] = Math.min(255, Math.round(((rgba[channel] as number) * 255) / alpha));
  }
  return pixels;
}
