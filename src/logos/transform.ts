import { BadImage } from './bytes.ts';

/** `a b c d e f` of an SVG matrix. */
export type Matrix = readonly [number, number, number, number, number, number];

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** The matrix that applies `inner` first. */
export const multiply = (outer: Matrix, inner: Matrix): Matrix => [
  outer[0] * inner[0] + outer[2] * inner[1],
  outer[1] * inner[0] + outer[3] * inner[1],
  outer[0] * inner[2] + outer[2] * inner[3],
  outer[1] * inner[2] + outer[3] * inner[3],
  outer[0] * inner[4] + outer[2] * inner[5] + outer[4],
  outer[1] * inner[4] + outer[3] * inner[5] + outer[5],
];

export const apply = ([a, b, c, d, e, f]: Matrix, { x, y }: Point): Point => ({
  x: a * x + c * y + e,
  y: b * x + d * y + f,
});

/** How much a matrix enlarges lengths, on average over all directions. */
export const scaleOf = ([a, b, c, d]: Matrix): number => Math.sqrt(Math.abs(a * d - b * c));

/** resvg writes every transform as one matrix. */
export function parseMatrix(text: string | undefined): Matrix {
  if (text === undefined) return identity;
  const values =
    /^matrix\(([^)]*)\)$/
      .exec(text.trim())?.[1]
      ?.trim()
      .split(/[\s,]+/)
      .map(Number) ?? [];
  if (values.length !== 6 || !values.every(Number.isFinite)) throw new BadImage('has a transform that cannot be used');
  return values as unknown as Matrix;
}
