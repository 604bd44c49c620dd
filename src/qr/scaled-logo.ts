import { downscale } from './downscale.ts';
import type { RasterLogo } from './logo-art.ts';
import { encodePixels } from './png-file.ts';
import { renderSvg } from './render.ts';

/** A logo reduced to about the pixels in which it is drawn. */
export async function scaledLogo(logo: RasterLogo, widthPx: number): Promise<RasterLogo> {
  const width = Math.max(1, Math.ceil(widthPx));
  if (width >= logo.width) return logo;
  const height = Math.max(1, Math.round((logo.height * width) / logo.width));
  const png = await encodePixels(downscale(await decodePng(logo), width, height));
  return { kind: 'raster', width, height, png };
}

function decodePng({ width, height, png }: RasterLogo) {
  const data = Buffer.from(png).toString('base64');
  const size = `width="${width}" height="${height}"`;
  return renderSvg(
    `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image ${size} preserveAspectRatio="none" image-rendering="optimizeSpeed" href="data:image/png;base64,${data}"/></svg>`,
  );
}
