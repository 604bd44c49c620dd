import type { Gradient, Style } from '../../events/style.ts';
import { type Area, type Fill, gradientFill, rounded } from './fill.ts';
import { frameMargins } from './frame.ts';
import { type Geometry, geometryOf } from './geometry.ts';
import { type Layout, layoutOf, type Margins } from './layout.ts';
import type { LogoArt } from './logo-art.ts';
import type { Mask } from './matrix.ts';
import { type PlacedLogo, symbolOf } from './placed-logo.ts';
import { type Look, lookOf, transparent } from './style.ts';
import type { FrameFont } from './text.ts';

export interface SceneOptions {
  /** The image of `style.logo`; without it, the symbol has none. */
  readonly logo?: LogoArt | undefined;
  /** Needed for the text of a frame. */
  readonly font?: FrameFont | undefined;
  readonly mask?: Mask | undefined;
  /** Whether the symbol says that a text beyond ASCII is UTF-8. */
  readonly declaresUtf8?: boolean | undefined;
  /** The largest size in pixels; by default the largest size of downloads without a physical size. */
  readonly maxSizePx?: number | undefined;
}

/** What an image consists of and where, in modules from the top-left corner of the symbol. */
export interface Composition {
  readonly look: Look;
  /** The whole image, with quiet zone and frame; `x` and `y` are negative. */
  readonly area: Area;
  /** Undefined if it is transparent. */
  readonly background: Fill | undefined;
  readonly geometry: Geometry;
  readonly fills: SymbolFills;
  readonly placed: PlacedLogo | undefined;
}

/** The same fill is the same object. */
export interface SymbolFills {
  readonly dots: Fill;
  readonly rings: Fill;
  readonly eyes: Fill;
}

/** An image with exactly the quiet zone of its style. */
export function compose(url: string, style: Style, options: SceneOptions): Composition {
  return composed(url, lookOf(style), options, exactArea).composition;
}

/** An image of `size` pixels, in which each module has a whole number of pixels. */
export function composePixels(
  url: string,
  style: Style,
  size: number,
  options: SceneOptions,
): { composition: Composition; layout: Layout } {
  const { composition, placement } = composed(url, lookOf(style), options, (side, margins) => {
    const layout = layoutOf(side, size, margins, options.maxSizePx);
    return { ...areaOf(layout), layout };
  });
  return { composition, layout: placement.layout };
}

function composed<P extends Area>(
  url: string,
  look: Look,
  options: SceneOptions,
  place: (side: number, margins: Margins) => P,
): { composition: Composition; placement: P } {
  const { matrix, placed } = symbolOf(url, look, options.logo, options.mask, options.declaresUtf8);
  const { side } = matrix;
  const placement = place(side, frameMargins(look.frame, side, look.quietZone));
  const { x, y, width, height } = placement;
  const area = { x, y, width, height };
  const background =
    look.backgroundGradient === undefined ? look.backgroundColor : gradientFill(look.backgroundGradient, area);
  const composition = {
    look,
    area,
    background: background === transparent ? undefined : background,
    geometry: geometryOf(matrix, look, placed?.isLeftOut),
    fills: symbolFills(look, side),
    placed,
  };
  return { composition, placement };
}

function symbolFills(look: Look, side: number): SymbolFills {
  // As if there were no frame, so that a frame does not change the colors of the symbol.
  const area = around(side, look.quietZone);
  const placed = new Map<Gradient, Fill>();
  const fillOf = (color: string, gradient: Gradient | undefined): Fill => {
    if (gradient === undefined) return color;
    const fill = placed.get(gradient) ?? gradientFill(gradient, area);
    placed.set(gradient, fill);
    return fill;
  };
  return {
    dots: fillOf(look.dotsColor, look.dotsGradient),
    rings: fillOf(look.cornersSquareColor, look.cornersSquareGradient),
    eyes: fillOf(look.cornersDotColor, look.cornersDotGradient),
  };
}

const around = (side: number, margin: number): Area => ({
  x: -margin,
  y: -margin,
  width: side + 2 * margin,
  height: side + 2 * margin,
});

function exactArea(side: number, { quietZone, left, right, top, bottom }: Margins): Area {
  const inner = side + 2 * quietZone;
  return { x: -quietZone - left, y: -quietZone - top, width: inner + left + right, height: inner + top + bottom };
}

const areaOf = ({ size, height, scale, offset, offsetY }: Layout): Area => ({
  x: rounded(-offset / scale),
  y: rounded(-offsetY / scale),
  width: rounded(size / scale),
  height: rounded(height / scale),
});
