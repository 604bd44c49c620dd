import { downscale } from './downscale.ts';
import type { RasterLogo } from './logo-art.ts';
import { encodePixels } from './png-file.ts';
import { renderSvg } from './render.ts';

/** Codes of one account often share a logo and a size, so reduced logos are cached. */
const maxCachedBytes = 16 * 1024 * 1024;
const cached = new Map<string, RasterLogo>();
let cachedBytes = 0;

/**
 * A logo reduced to about the pixels in which it is drawn, from the cache if possible: decoding a logo of 1,024 px takes
 * longer than drawing the rest of a picture. `id` names the logo, whose picture never changes.
 */
export async function scaledLogo(logo: RasterLogo, id: string, widthPx: number): Promise<RasterLogo> {
  const width = Math.max(1, Math.ceil(widthPx));
  if (width >= logo.width) return logo;
  const key = `${id} ${width}`;
  const known = cached.get(key);
  if (known !== undefined) {
    cached.delete(key);
    cached.set(key, known);
    return known;
  }
  const height = Math.max(1, Math.round((logo.height * width) / logo.width));
  const png = await encodePixels(downscale(await decodePng(logo), width, height));
  const scaled: RasterLogo = { kind: 'raster', width, height, png };
  cached.set(key, scaled);
  cachedBytes += costOf(scaled);
  for (const [oldKey, old] of cached) {
    if (cachedBytes <= maxCachedBytes) break;
    cached.delete(oldKey);
    cachedBytes -= costOf(old);
  }
  return scaled;
}

/** Its bytes, and their text in base64, which is kept with it (svg.ts). */
const costOf = ({ png }: RasterLogo) => png.length + Math.ceil(png.length / 3) * 4;

function decodePng({ width, height, png }: RasterLogo) {
  const data = Buffer.from(png).toString('base64');
  const size = `width="${width}" height="${height}"`;
  return renderSvg(
    `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image ${size} preserveAspectRatio="none" image-rendering="optimizeSpeed" href="data:image/png;base64,${data}"/></svg>`,
  );
}
