import type { Gradient, Style } from '../../events/style.ts';
import { type Area, type Fill, gradientFill, rounded } from './fill.ts';
import { frameMargins, framePaths, rectPath } from './frame.ts';
import { geometryOf } from './geometry.ts';
import { type Layout, layoutOf, type Margins } from './layout.ts';
import type { LogoArt } from './logo-art.ts';
import type { Mask } from './matrix.ts';
import { boxPath, dotsPath, holePath } from './outline.ts';
import { type PlacedLogo, symbolOf } from './placed-logo.ts';
import { type Look, lookOf, transparent } from './style.ts';
import type { FrameFont } from './text.ts';

/**
 * A picture as vectors, in modules; the origin is the top-left corner of the symbol. SVG, PNG, PDF and EPS are written
 * from it. `background` fills the whole `area`, then the shapes are painted in their order.
 */
export interface Scene {
  /** Modules of the symbol on a side. */
  readonly side: number;
  /** The whole picture, with quiet zone and frame; `x` and `y` are negative. */
  readonly area: Area;
  /** Undefined if it is transparent. */
  readonly background: Fill | undefined;
  readonly shapes: readonly Shape[];
}

export type Shape = PathShape | LogoShape;

export interface PathShape {
  readonly kind: 'path';
  readonly fill: Fill;
  /** SVG path data, filled by the nonzero rule; it has the commands M, L, Q, A, h, v, l, q, a and z. */
  readonly d: string;
  /** Whether all its edges are horizontal or vertical, so that it needs no anti-aliasing. */
  readonly isCrisp: boolean;
}

/** A picture that fills its box, which has its proportions. */
export interface LogoShape extends Area {
  readonly kind: 'logo';
  readonly art: LogoArt;
}

export interface SceneOptions {
  /** The picture of `style.logo`; without it, the symbol has none. */
  readonly logo?: LogoArt | undefined;
  /** Needed for the text of a frame. */
  readonly font?: FrameFont | undefined;
  readonly mask?: Mask | undefined;
  /** The largest size in pixels; by default that of downloads without a physical size. */
  readonly maxSizePx?: number | undefined;
}

/** The scene of a short URL with exactly the quiet zone of its style. */
export function sceneOf(url: string, style: Style, options: SceneOptions = {}): Scene {
  return compose(url, lookOf(style), options).scene;
}

/** The scene for a picture of `size` pixels, in which each module has a whole number of pixels. */
export function pixelSceneOf(
  url: string,
  style: Style,
  size: number,
  options: SceneOptions = {},
): { scene: Scene; layout: Layout } {
  const { scene, layout } = compose(url, lookOf(style), options, size);
  if (layout === undefined) throw new Error('a scene for pixels has a layout');
  return { scene, layout };
}

function compose(url: string, look: Look, options: SceneOptions, size?: number): { scene: Scene; layout?: Layout } {
  const { matrix, placed } = symbolOf(url, look, options.logo, options.mask);
  const { side } = matrix;
  const margins = frameMargins(look.frame, side, look.quietZone);
  const layout = size === undefined ? undefined : layoutOf(side, size, margins, options.maxSizePx);
  const area = layout === undefined ? exactArea(side, margins) : areaOf(layout);
  // As if there were no frame, so that a frame does not change the colors of the symbol.
  const symbolArea = around(side, look.quietZone);
  const fillOf = (color: string, gradient: Gradient | undefined): Fill =>
    gradient === undefined ? color : gradientFill(gradient, symbolArea);
  const { dots, rings, eyes } = geometryOf(matrix, look, placed?.isLeftOut);
  // Round shapes need anti-aliasing; square ones show seams with it at fractional zoom levels.
  const isSquare = (...types: string[]) => types.every((type) => type === 'square');
  const background =
    look.backgroundGradient === undefined ? look.backgroundColor : gradientFill(look.backgroundGradient, area);
  return {
    ...(layout === undefined ? {} : { layout }),
    scene: {
      side,
      area,
      background: background === transparent ? undefined : background,
      shapes: [
        {
          kind: 'path',
          fill: fillOf(look.dotsColor, look.dotsGradient),
          isCrisp: isSquare(look.dotsType),
          d: dotsPath(side, dots),
        },
        {
          kind: 'path',
          fill: fillOf(look.cornersSquareColor, look.cornersSquareGradient),
          isCrisp: isSquare(look.dotsType, look.cornersSquareType),
          d: rings.map(({ outer, hole }) => boxPath(outer) + holePath(hole)).join(''),
        },
        {
          kind: 'path',
          fill: fillOf(look.cornersDotColor, look.cornersDotGradient),
          isCrisp: isSquare(look.dotsType, look.cornersDotType),
          d: eyes.map(boxPath).join(''),
        },
        ...logoShapes(look, placed, options.logo),
        ...frameShapes(look, area, side, options.font),
      ],
    },
  };
}

function logoShapes(look: Look, placed: PlacedLogo | undefined, art: LogoArt | undefined): Shape[] {
  if (look.logo === undefined || placed === undefined || art === undefined) return [];
  const { plate, box } = placed;
  const logo: Shape = { kind: 'logo', art, ...box };
  if (plate === undefined) return [logo];
  const { width } = plate.area;
  const radius = plate.shape === 'circle' ? width / 2 : 0;
  const d = rectPath(plate.area, [radius, radius, radius, radius]);
  return [{ kind: 'path', fill: look.logo.background, isCrisp: false, d }, logo];
}

function frameShapes({ frame }: Look, area: Area, side: number, font: FrameFont | undefined): Shape[] {
  if (frame === undefined) return [];
  const paths = framePaths(frame, area, side, font);
  const outline: Shape = { kind: 'path', fill: frame.color, isCrisp: false, d: paths.frame };
  if (paths.text === '') return [outline];
  return [outline, { kind: 'path', fill: frame.textColor, isCrisp: false, d: paths.text }];
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
