import type { Style } from '../../events/style.ts';
import { type Composition, compose, composePixels, type SceneOptions } from './composition.ts';
import type { Area, Fill } from './fill.ts';
import { framePaths, rectPath } from './frame.ts';
import type { Layout } from './layout.ts';
import type { LogoArt } from './logo-art.ts';
import { boxPath, dotsPath, holePath } from './outline.ts';
import type { Path } from './path.ts';

/**
 * An image as vectors, in modules; the origin is the top-left corner of the symbol. SVG, PDF and EPS are written from it,
 * and of a PNG what lies on the symbol. `background` fills the whole `area`, then the shapes are painted in their order.
 */
export interface Scene {
  /** Modules of the symbol on a side. */
  readonly side: number;
  /** The whole image, with quiet zone and frame; `x` and `y` are negative. */
  readonly area: Area;
  /** Undefined if it is transparent. */
  readonly background: Fill | undefined;
  readonly shapes: readonly Shape[];
}

export type Shape = PathShape | LogoShape;

export interface PathShape {
  readonly kind: 'path';
  readonly fill: Fill;
  /** Filled by the nonzero rule. */
  readonly path: Path;
  /** Whether all its edges are horizontal or vertical, so that it needs no anti-aliasing. */
  readonly isCrisp: boolean;
}

/** An image that fills its box, which has its proportions. */
export interface LogoShape extends Area {
  readonly kind: 'logo';
  readonly art: LogoArt;
  /** The color of the plate under it, if it has one. */
  readonly plate: string | undefined;
}

/** The scene of a short URL with exactly the quiet zone of its style. */
export function sceneOf(url: string, style: Style, options: SceneOptions = {}): Scene {
  return sceneFrom(compose(url, style, options), options);
}

/** The scene for an image of `size` pixels, in which each module has a whole number of pixels. */
export function pixelSceneOf(
  url: string,
  style: Style,
  size: number,
  options: SceneOptions = {},
): { scene: Scene; layout: Layout } {
  const { composition, layout } = composePixels(url, style, size, options);
  return { scene: sceneFrom(composition, options), layout };
}

/** The scene of a composition, in its order of painting. */
export function sceneFrom(composition: Composition, options: SceneOptions): Scene {
  const { area, background, geometry } = composition;
  const shapes = [...symbolShapes(composition), ...overlayShapes(composition, options)];
  return { side: geometry.side, area, background, shapes };
}

function symbolShapes({ look, geometry, fills }: Composition): Shape[] {
  const { side, dots, rings, eyes } = geometry;
  // Round shapes need anti-aliasing; square ones show seams with it at fractional zoom levels.
  const isSquare = (...types: string[]) => types.every((type) => type === 'square');
  return [
    { kind: 'path', fill: fills.dots, isCrisp: isSquare(look.dotsType), path: dotsPath(side, dots) },
    {
      kind: 'path',
      fill: fills.rings,
      isCrisp: isSquare(look.dotsType, look.cornersSquareType),
      path: rings.flatMap(({ outer, hole }) => [...boxPath(outer), ...holePath(hole)]),
    },
    {
      kind: 'path',
      fill: fills.eyes,
      isCrisp: isSquare(look.dotsType, look.cornersDotType),
      path: eyes.flatMap(boxPath),
    },
  ];
}

/** What is painted over the symbol: the logo and the frame. */
export const overlayShapes = (composition: Composition, options: SceneOptions): Shape[] => [
  ...logoShapes(composition, options),
  ...frameShapes(composition, options),
];

function logoShapes({ look, placed }: Composition, { logo: art }: SceneOptions): Shape[] {
  if (look.logo === undefined || placed === undefined || art === undefined) return [];
  const { plate, box } = placed;
  if (plate === undefined) return [{ kind: 'logo', art, plate, ...box }];
  const { background } = look.logo;
  const radius = plate.shape === 'circle' ? plate.area.width / 2 : 0;
  const path = rectPath(plate.area, [radius, radius, radius, radius]);
  return [
    { kind: 'path', fill: background, isCrisp: false, path },
    { kind: 'logo', art, plate: background, ...box },
  ];
}

function frameShapes({ look: { frame }, area, geometry }: Composition, { font }: SceneOptions): Shape[] {
  if (frame === undefined) return [];
  const paths = framePaths(frame, area, geometry.side, font);
  const outline: Shape = { kind: 'path', fill: frame.color, isCrisp: false, path: paths.frame };
  if (paths.text.length === 0) return [outline];
  return [outline, { kind: 'path', fill: frame.textColor, isCrisp: false, path: paths.text }];
}
