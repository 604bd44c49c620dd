import type { Pixels } from './png-file.ts';

/** Draws an SVG document at its own size. No fonts are loaded: documents have outlines instead of text. */
export async function renderSvg(svg: string): Promise<Pixels> {
  // Native code, loaded with the first picture that needs it: most need only the fast path of png.ts.
  const { Resvg } = await import('@resvg/resvg-js');
  const image = new Resvg(svg, { font: { loadSystemFonts: false } }).render();
  // The getter copies.
  const rgba = new Uint8Array(image.pixels);
  return { width: image.width, height: image.height, rgba };
}
