import type { CornersDotType, CornersSquareType, DotsType } from '../../events/style-shapes.ts';
import { finderSide, findersOf, inFinder, type Matrix } from './matrix.ts';
import type { Look } from './style.ts';

/** Corner radii in modules, clockwise. */
export type Radii = readonly [topLeft: number, topRight: number, bottomRight: number, bottomLeft: number];

/** A square with rounded corners, in modules from the symbol's top-left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly side: number;
  readonly radii: Radii;
}

export interface Ring {
  readonly outer: Box;
  readonly hole: Box;
}

/** The shapes of a symbol, in modules; the scene and the fast PNG are both drawn from it. */
export interface Geometry {
  readonly side: number;
  /** Every dark module outside the finder patterns, in reading order. */
  readonly dots: readonly Box[];
  readonly rings: readonly Ring[];
  /** The inner squares of the finder patterns. */
  readonly eyes: readonly Box[];
}

/** Which sides of a module have a dark neighbour. */
interface Neighbours {
  readonly left: boolean;
  readonly right: boolean;
  readonly top: boolean;
  readonly bottom: boolean;
}

const square: Radii = [0, 0, 0, 0];
const circle: Radii = [0.5, 0.5, 0.5, 0.5];

const dotRules: Record<DotsType, (near: Neighbours) => Radii> = {
  square: () => square,
  dots: () => circle,
  rounded: (near) => openCorners(near, 0.5),
  // A module at a bend of its line becomes a quarter disc.
  'extra-rounded': (near) => openCorners(near, isBend(near) ? 1 : 0.5),
  classy: (near) => leaf(near, 0.5),
  'classy-rounded': (near) => leaf(near, 1),
};

const ringRadii: Record<CornersSquareType, { outer: number; hole: number }> = {
  square: { outer: 0, hole: 0 },
  dot: { outer: 3.5, hole: 2.5 },
  'extra-rounded': { outer: 2.5, hole: 1.5 },
};

const eyeRadius: Record<CornersDotType, number> = { square: 0, dot: 1.5 };

/** `isLeftOut`: modules under a logo, which count as light. */
export function geometryOf(
  matrix: Matrix,
  look: Pick<Look, 'dotsType' | 'cornersSquareType' | 'cornersDotType'>,
  isLeftOut: (x: number, y: number) => boolean = () => false,
): Geometry {
  const { side } = matrix;
  const isDot = (x: number, y: number) => matrix.isDark(x, y) && !inFinder(side, x, y) && !isLeftOut(x, y);
  const rule = dotRules[look.dotsType];
  // Dots with the same neighbours share one `radii` object, so that renderers can cache by identity.
  const radii = Array.from({ length: 16 }, (_, near) =>
    rule({ left: (near & 1) > 0, right: (near & 2) > 0, top: (near & 4) > 0, bottom: (near & 8) > 0 }),
  );
  const dots: Box[] = [];
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      if (!isDot(x, y)) continue;
      let near = 0;
      if (isDot(x - 1, y)) near |= 1;
      if (isDot(x + 1, y)) near |= 2;
      if (isDot(x, y - 1)) near |= 4;
      if (isDot(x, y + 1)) near |= 8;
      dots.push({ x, y, side: 1, radii: radii[near] ?? square });
    }
  }
  const outer = equalRadii(ringRadii[look.cornersSquareType].outer);
  const hole = equalRadii(ringRadii[look.cornersSquareType].hole);
  const eye = equalRadii(eyeRadius[look.cornersDotType]);
  const finders = findersOf(side);
  return {
    side,
    dots,
    rings: finders.map(({ x, y }) => ({
      outer: { x, y, side: finderSide, radii: outer },
      hole: { x: x + 1, y: y + 1, side: finderSide - 2, radii: hole },
    })),
    eyes: finders.map(({ x, y }) => ({ x: x + 2, y: y + 2, side: finderSide - 4, radii: eye })),
  };
}

function equalRadii(radius: number): Radii {
  return [radius, radius, radius, radius];
}

function countOf({ left, right, top, bottom }: Neighbours): number {
  return Number(left) + Number(right) + Number(top) + Number(bottom);
}

function isBend(near: Neighbours): boolean {
  return countOf(near) === 2 && near.left !== near.right;
}

function openCorners({ left, right, top, bottom }: Neighbours, radius: number): Radii {
  const corner = (one: boolean, other: boolean) => (one || other ? 0 : radius);
  return [corner(left, top), corner(right, top), corner(right, bottom), corner(left, bottom)];
}

function leaf(near: Neighbours, radius: number): Radii {
  if (countOf(near) === 0) return [0.5, 0, 0.5, 0];
  if (!near.left && !near.top) return [radius, 0, 0, 0];
  if (!near.right && !near.bottom) return [0, 0, radius, 0];
  return square;
}
