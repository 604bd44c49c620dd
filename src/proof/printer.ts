import { Resvg } from '@resvg/resvg-js';
import { contrast, rgbOf } from '../qr/color.ts';
import frameFont from '../qr/frame-font.json' with { type: 'json' };
import { type Scene, sceneOf } from '../qr/scene.ts';
import { type Look, lookOf, transparent } from '../qr/style.ts';
import { writeSvg } from '../qr/svg.ts';
import { type Gray, grayOf } from './gray.ts';
import type { ProofRequest } from './proof.ts';
import { printDpi } from './views.ts';

/** An image that can be printed at any size. */
export interface Printer {
  at(widthMm: number): Gray;
  readonly contrast: number;
  /** Modules on a side, without the quiet zone. */
  readonly modules: number;
  /** Where the symbol is, as shares of the image's width. */
  readonly symbol: { readonly x: number; readonly y: number; readonly side: number };
}

/** Throws a `RangeError` for a style that cannot be drawn. */
export function createPrinter({ url, style, logo }: ProofRequest): Printer {
  const scene = sceneOf(url, style, { logo, font: frameFont });
  const { side, area } = scene;
  const prints = new Map<number, Gray>();
  return {
    at(widthMm) {
      const print = prints.get(widthMm) ?? rasterized(scene, Math.round((widthMm * printDpi) / 25.4));
      prints.set(widthMm, print);
      return print;
    },
    contrast: contrastOf(lookOf(style)),
    modules: side,
    symbol: { x: -area.x / area.width, y: -area.y / area.width, side: side / area.width },
  };
}

function rasterized(scene: Scene, widthPx: number): Gray {
  const { area } = scene;
  const scale = widthPx / area.width;
  const [offset, offsetY] = [-area.x * scale, -area.y * scale];
  const svg = writeSvg(scene, { size: widthPx, height: Math.round(area.height * scale), scale, offset, offsetY }, '');
  const image = new Resvg(svg, { font: { loadSystemFonts: false } }).render();
  return grayOf(image.pixels, image.width, image.height);
}

/** The lowest contrast of a color of the symbol and one of its background, cut to two decimals. */
function contrastOf(look: Look): number {
  const paper = look.backgroundColor === transparent ? '#FFFFFF' : look.backgroundColor;
  const colors = (color: string, gradient: Look['dotsGradient']) =>
    gradient === undefined ? [color] : gradient.colorStops.map((stop) => stop.color);
  const foregrounds = [
    ...colors(look.dotsColor, look.dotsGradient),
    ...colors(look.cornersSquareColor, look.cornersSquareGradient),
    ...colors(look.cornersDotColor, look.cornersDotGradient),
  ];
  const ratios = colors(paper, look.backgroundGradient).flatMap((background) =>
    foregrounds.map((color) => contrast(rgbOf(color), rgbOf(background))),
  );
  return Math.floor(Math.min(...ratios) * 100) / 100;
}
