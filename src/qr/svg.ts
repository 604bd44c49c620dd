import type { Style } from '../../events/style.ts';
import { geometryOf } from './geometry.ts';
import { layoutOf } from './layout.ts';
import { type Mask, matrixOf } from './matrix.ts';
import { boxPath, dotsPath, holePath } from './outline.ts';
import { lookOf } from './style.ts';

/**
 * Draws a short URL as an SVG document, with the same layout as the PNG of the same size.
 *
 * @example
 * drawSvg('https://sho.rt/aB3xY7z', { dotsType: 'rounded' }, 512);
 */
export function drawSvg(
  url: string,
  style: Style,
  size: number,
  options: { title?: string; mask?: Mask } = {},
): string {
  const look = lookOf(style);
  const matrix = matrixOf(url, options.mask);
  const { side, dots, rings, eyes } = geometryOf(matrix, look);
  const { scale, offset } = layoutOf(side, size);
  // Round shapes need anti-aliasing; square ones show seams with it at fractional zoom levels.
  const crisp = (...types: string[]) =>
    types.every((type) => type === 'square') ? ' shape-rendering="crispEdges"' : '';
  const path = (color: string, attributes: string, data: string) => `<path fill="${color}"${attributes} d="${data}"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${size} ${size}" role="img">`,
    `<title>${escapeText(options.title ?? `QR code for ${url}`)}</title>`,
    `<rect width="${size}" height="${size}" fill="${look.backgroundColor}"/>`,
    `<g transform="translate(${offset} ${offset}) scale(${scale})">`,
    path(look.dotsColor, crisp(look.dotsType), dotsPath(side, dots)),
    path(
      look.cornersSquareColor,
      crisp(look.dotsType, look.cornersSquareType),
      rings.map(({ outer, hole }) => boxPath(outer) + holePath(hole)).join(''),
    ),
    path(look.cornersDotColor, crisp(look.dotsType, look.cornersDotType), eyes.map(boxPath).join('')),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for XML and replaces characters that XML does not allow. */
export function escapeText(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced
      .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
      .replace(/[\ufffe\uffff]/g, '\ufffd')
      .replace(/[&<>"']/g, (char) => entities[char] ?? char)
  );
}
