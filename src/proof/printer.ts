import { Resvg } from '@resvg/resvg-js';
import { contrast, rgbOf } from '../qr/color.ts';
import { geometryOf } from '../qr/geometry.ts';
import { quietZone } from '../qr/layout.ts';
import { matrixOf } from '../qr/matrix.ts';
import { boxPath, dotsPath, holePath } from '../qr/outline.ts';
import { lookOf } from '../qr/style.ts';
import { type Gray, grayOf } from './gray.ts';
import type { ProofRequest } from './proof.ts';
import { printDpi } from './views.ts';

/** A picture that can be printed at any size. */
export interface Printer {
  at(widthMm: number): Gray;
  readonly contrast: number;
  /** Modules on a side, without the quiet zone. */
  readonly modules: number;
  /** Where the symbol is, as shares of the picture's width. */
  readonly symbol: { readonly x: number; readonly y: number; readonly side: number };
}

export function createPrinter({ url, style }: ProofRequest): Printer {
  const look = lookOf(style);
  const { side, dots, rings, eyes } = geometryOf(matrixOf(url), look);
  const width = side + 2 * quietZone;
  const path = (color: string, data: string) => `<path fill="${color}" d="${data}"/>`;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${width}">`,
    `<rect width="${width}" height="${width}" fill="${look.backgroundColor}"/>`,
    `<g transform="translate(${quietZone} ${quietZone})">`,
    path(look.dotsColor, dotsPath(side, dots)),
    path(look.cornersSquareColor, rings.map(({ outer, hole }) => boxPath(outer) + holePath(hole)).join('')),
    path(look.cornersDotColor, eyes.map(boxPath).join('')),
    '</g></svg>',
  ].join('');
  const colors = [look.dotsColor, look.cornersSquareColor, look.cornersDotColor];
  const ratios = colors.map((color) => contrast(rgbOf(color), rgbOf(look.backgroundColor)));
  const prints = new Map<number, Gray>();
  return {
    at(widthMm) {
      const print = prints.get(widthMm) ?? rasterized(svg, Math.round((widthMm * printDpi) / 25.4));
      prints.set(widthMm, print);
      return print;
    },
    contrast: Math.floor(Math.min(...ratios) * 100) / 100,
    modules: side,
    symbol: { x: quietZone / width, y: quietZone / width, side: side / width },
  };
}

function rasterized(svg: string, widthPx: number): Gray {
  const image = new Resvg(svg, { fitTo: { mode: 'width', value: widthPx }, font: { loadSystemFonts: false } }).render();
  return grayOf(image.pixels, image.width, image.height);
}
