import { describe, expect, test } from 'vitest';
import { dotsTypes } from '../../events/style-shapes.ts';
import { geometryOf } from '../../src/qr/geometry.ts';
import { layoutOf } from '../../src/qr/layout.ts';
import { type Matrix, matrixOf } from '../../src/qr/matrix.ts';
import { drawPng } from '../../src/qr/png.ts';
import { lookOf } from '../../src/qr/style.ts';
import { decodePng, eachShape, exampleUrl } from './support.ts';

// Corner radii, clockwise from the top left, for every set of dark neighbours (l, r, t, b).
const O = [0, 0, 0, 0];
const circle = [0.5, 0.5, 0.5, 0.5];
const radiiByNeighbours: Record<string, Record<'rounded' | 'extra-rounded' | 'classy' | 'classy-rounded', number[]>> = {
  '': { rounded: circle, 'extra-rounded': circle, classy: [0.5, 0, 0.5, 0], 'classy-rounded': [0.5, 0, 0.5, 0] },
  l: {
    rounded: [0, 0.5, 0.5, 0],
    'extra-rounded': [0, 0.5, 0.5, 0],
    classy: [0, 0, 0.5, 0],
    'classy-rounded': [0, 0, 1, 0],
  },
  r: {
    rounded: [0.5, 0, 0, 0.5],
    'extra-rounded': [0.5, 0, 0, 0.5],
    classy: [0.5, 0, 0, 0],
    'classy-rounded': [1, 0, 0, 0],
  },
  t: {
    rounded: [0, 0, 0.5, 0.5],
    'extra-rounded': [0, 0, 0.5, 0.5],
    classy: [0, 0, 0.5, 0],
    'classy-rounded': [0, 0, 1, 0],
  },
  b: {
    rounded: [0.5, 0.5, 0, 0],
    'extra-rounded': [0.5, 0.5, 0, 0],
    classy: [0.5, 0, 0, 0],
    'classy-rounded': [1, 0, 0, 0],
  },
  lr: { rounded: O, 'extra-rounded': O, classy: O, 'classy-rounded': O },
  tb: { rounded: O, 'extra-rounded': O, classy: O, 'classy-rounded': O },
  lt: {
    rounded: [0, 0, 0.5, 0],
    'extra-rounded': [0, 0, 1, 0],
    classy: [0, 0, 0.5, 0],
    'classy-rounded': [0, 0, 1, 0],
  },
  lb: { rounded: [0, 0.5, 0, 0], 'extra-rounded': [0, 1, 0, 0], classy: O, 'classy-rounded': O },
  rt: { rounded: [0, 0, 0, 0.5], 'extra-rounded': [0, 0, 0, 1], classy: O, 'classy-rounded': O },
  rb: {
    rounded: [0.5, 0, 0, 0],
    'extra-rounded': [1, 0, 0, 0],
    classy: [0.5, 0, 0, 0],
    'classy-rounded': [1, 0, 0, 0],
  },
  lrt: { rounded: O, 'extra-rounded': O, classy: O, 'classy-rounded': O },
  lrb: { rounded: O, 'extra-rounded': O, classy: O, 'classy-rounded': O },
  ltb: { rounded: O, 'extra-rounded': O, classy: O, 'classy-rounded': O },
  rtb: { rounded: O, 'extra-rounded': O, classy: O, 'classy-rounded': O },
  lrtb: { rounded: O, 'extra-rounded': O, classy: O, 'classy-rounded': O },
};

function expectedRadii(type: (typeof dotsTypes)[number], near: string): number[] | undefined {
  if (type === 'square') return O;
  if (type === 'dots') return circle;
  return radiiByNeighbours[near]?.[type];
}

/** Whether a module belongs to a finder pattern: 7 × 7 modules in three corners, as the standard says. */
function finderAt({ side }: Matrix, x: number, y: number): boolean {
  return (x < 7 && y < 7) || (x >= side - 7 && y < 7) || (x < 7 && y >= side - 7);
}

function neighboursOf(matrix: Matrix, x: number, y: number): string {
  const isDot = (nx: number, ny: number) => matrix.isDark(nx, ny) && !finderAt(matrix, nx, ny);
  return [isDot(x - 1, y) && 'l', isDot(x + 1, y) && 'r', isDot(x, y - 1) && 't', isDot(x, y + 1) && 'b']
    .filter(Boolean)
    .join('');
}

describe('radii of every dark module', () => {
  test.each(dotsTypes)('%s', (dotsType) => {
    const seen = new Set<string>();
    const wrong: string[] = [];
    for (const mask of [0, 1, 2, 3, 4, 5, 6, 7] as const) {
      const matrix = matrixOf(exampleUrl, mask);
      const { dots } = geometryOf(matrix, lookOf({ dotsType }));
      const dotsByModule = new Map(dots.map((dot) => [`${dot.x} ${dot.y}`, dot]));
      for (let y = 0; y < matrix.side; y++) {
        for (let x = 0; x < matrix.side; x++) {
          const dot = dotsByModule.get(`${x} ${y}`);
          if (!matrix.isDark(x, y) || finderAt(matrix, x, y)) {
            if (dot !== undefined) wrong.push(`mask ${mask}: module ${x}, ${y} is drawn`);
            continue;
          }
          const near = neighboursOf(matrix, x, y);
          seen.add(near);
          if (dot?.side !== 1 || dot.radii.join() !== expectedRadii(dotsType, near)?.join())
            wrong.push(`mask ${mask}: module ${x}, ${y} beside "${near}" has radii ${dot?.radii}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(seen.size, 'sets of neighbours that occur').toBe(16);
  });
});

/** Whether a point lies in a rounded square of a given side, all measured from its top-left corner. */
function inside(u: number, v: number, side: number, [tl = 0, tr = 0, br = 0, bl = 0]: readonly number[]): boolean {
  if (u < 0 || v < 0 || u > side || v > side) return false;
  if (u < tl && v < tl) return Math.hypot(u - tl, v - tl) <= tl;
  if (u > side - tr && v < tr) return Math.hypot(u - (side - tr), v - tr) <= tr;
  if (u > side - br && v > side - br) return Math.hypot(u - (side - br), v - (side - br)) <= br;
  if (u < bl && v > side - bl) return Math.hypot(u - bl, v - (side - bl)) <= bl;
  return true;
}

const ringRadii = { square: [0, 0], dot: [3.5, 2.5], 'extra-rounded': [2.5, 1.5] } as const;
const eyeRadius = { square: 0, dot: 1.5 } as const;

const colors = {
  dotsColor: '#000080',
  backgroundColor: '#FFFFF0',
  cornersSquareColor: '#800000',
  cornersDotColor: '#008000',
};

describe('every pixel that no edge crosses has the color of its shape', () => {
  test.each(eachShape)('$dotsType, $cornersSquareType, $cornersDotType', async (shapes) => {
    const matrix = matrixOf(exampleUrl, 3);
    const size = 425;
    const { scale, offset } = layoutOf(matrix.side, size);
    const png = decodePng(await drawPng(exampleUrl, { ...shapes, ...colors }, size, { mask: 3 }));

    const far = matrix.side - 7;
    const [outer, hole] = ringRadii[shapes.cornersSquareType];
    const eye = eyeRadius[shapes.cornersDotType];
    const all = (radius: number) => [radius, radius, radius, radius];
    const radiiOf = Array.from({ length: matrix.side }, (_, y) =>
      Array.from({ length: matrix.side }, (_, x) =>
        matrix.isDark(x, y) ? expectedRadii(shapes.dotsType, neighboursOf(matrix, x, y)) : undefined,
      ),
    );
    const colorAt = (u: number, v: number) => {
      const [x, y] = [Math.floor(u), Math.floor(v)];
      if (finderAt(matrix, x, y)) {
        const [fu, fv] = [u - (x >= 7 ? far : 0), v - (y >= 7 ? far : 0)];
        if (inside(fu - 2, fv - 2, 3, all(eye))) return colors.cornersDotColor;
        const ring = inside(fu, fv, 7, all(outer)) && !inside(fu - 1, fv - 1, 5, all(hole));
        return ring ? colors.cornersSquareColor : colors.backgroundColor;
      }
      const radii = radiiOf[y]?.[x];
      return radii !== undefined && inside(u - x, v - y, 1, radii) ? colors.dotsColor : colors.backgroundColor;
    };

    let clear = 0;
    const wrong: string[] = [];
    for (let y = 0; y < size; y++) {
      for (let x = 0; x < size; x++) {
        const at = (dx: number, dy: number) => colorAt((x + dx - offset) / scale, (y + dy - offset) / scale);
        const expected = at(0.5, 0.5);
        // Pixels whose corners have different colors are crossed by an edge.
        if ([at(0.01, 0.01), at(0.99, 0.01), at(0.01, 0.99), at(0.99, 0.99)].some((color) => color !== expected))
          continue;
        clear++;
        if (png.at(x, y) !== expected) wrong.push(`${x},${y} is ${png.at(x, y)}, not ${expected}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(clear).toBeGreaterThan(0.9 * size * size);
  });
});
