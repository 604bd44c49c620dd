import { BadPicture } from './bytes.ts';
import { apply, type Matrix, type Point } from './transform.ts';

/** Absolute commands; Z has no points, C has three, the others one. */
export type PathData = readonly { readonly command: 'M' | 'L' | 'C' | 'Z'; readonly points: readonly Point[] }[];

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Parses the path data that resvg writes: absolute commands, each with its letter. */
export function parsePath(d: string): PathData {
  let pen: Point = { x: 0, y: 0 };
  return (d.match(/[A-Za-z][^A-Za-z]*(?:e-?\d+[^A-Za-z]*)*/g) ?? []).map((text) => {
    const values = text
      .slice(1)
      .trim()
      .split(/[\s,]+/)
      .filter((part) => part !== '')
      .map(Number);
    if (!values.every(Number.isFinite)) throw new BadPicture('has a path that cannot be used');
    const points = Array.from({ length: values.length / 2 }, (_, i) => ({
      x: values[2 * i] as number,
      y: values[2 * i + 1] as number,
    }));
    const command = text[0];
    const end = points.at(-1);
    const start = pen;
    if (end !== undefined) pen = end;
    if (command === 'Z' && points.length === 0) return { command, points };
    if ((command === 'M' || command === 'L') && points.length === 1) return { command, points };
    if (command === 'C' && points.length === 3) return { command, points };
    const [control] = points;
    if (command === 'Q' && points.length === 2 && control !== undefined && end !== undefined)
      return { command: 'C', points: [towards(start, control), towards(end, control), end] };
    throw new BadPicture('has a path that cannot be used');
  });
}

/** A control point of a cubic curve that equals a quadratic one. */
const towards = (from: Point, control: Point): Point => ({
  x: from.x + (2 / 3) * (control.x - from.x),
  y: from.y + (2 / 3) * (control.y - from.y),
});

export const transformed = (path: PathData, matrix: Matrix): PathData =>
  path.map(({ command, points }) => ({ command, points: points.map((point) => apply(matrix, point)) }));

export const writePath = (path: PathData): string =>
  path
    .map(({ command, points }) => [command, ...points.flatMap(({ x, y }) => [short(x), short(y)])].join(' '))
    .join(' ');

function short(value: number): number {
  if (!Number.isFinite(value) || Math.abs(value) > 1e6) throw new BadPicture('has a path far outside the picture');
  return Math.round(value * 100) / 100 + 0;
}

const samplesPerCurve = 16;

/** Points on the path, dense enough for its bounds and its length. */
function* pointsOn(path: PathData): Generator<{ point: Point; isMove: boolean }> {
  let pen: Point = { x: 0, y: 0 };
  let start = pen;
  for (const { command, points } of path) {
    const end = points.at(-1) ?? start;
    const [one, two] = points;
    if (command === 'C' && one !== undefined && two !== undefined)
      for (let i = 1; i < samplesPerCurve; i++)
        yield { point: onCurve(pen, one, two, end, i / samplesPerCurve), isMove: false };
    yield { point: end, isMove: command === 'M' };
    if (command === 'M') start = end;
    pen = end;
  }
}

function onCurve(p0: Point, p1: Point, p2: Point, p3: Point, t: number): Point {
  const at = (a: number, b: number, c: number, d: number) =>
    (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t * t * c + t ** 3 * d;
  return { x: at(p0.x, p1.x, p2.x, p3.x), y: at(p0.y, p1.y, p2.y, p3.y) };
}

export function boundsOf(path: PathData): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { point } of pointsOn(path)) {
    [left, right] = [Math.min(left, point.x), Math.max(right, point.x)];
    [top, bottom] = [Math.min(top, point.y), Math.max(bottom, point.y)];
  }
  return left > right
    ? { x: 0, y: 0, width: 0, height: 0 }
    : { x: left, y: top, width: right - left, height: bottom - top };
}

export function lengthOf(path: PathData): number {
  let length = 0;
  let pen: Point | undefined;
  for (const { point, isMove } of pointsOn(path)) {
    if (pen !== undefined && !isMove) length += Math.hypot(point.x - pen.x, point.y - pen.y);
    pen = point;
  }
  return length;
}
