import { type CubicPath, cubicsOf, mapPoints } from '../qr/path.ts';
import { parsePath } from '../qr/path-data.ts';
import { BadImage } from './bytes.ts';
import { apply, type Matrix, type Point } from './transform.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Reads the path data of an uploaded image. */
export function readPath(data: string): CubicPath {
  try {
    return cubicsOf(parsePath(data));
  } catch {
    throw new BadImage('has a path that cannot be used');
  }
}

export const transformed = (path: CubicPath, matrix: Matrix): CubicPath =>
  mapPoints(path, (x, y) => apply(matrix, { x, y }));

/** As stored logos have it: absolute commands M, L, C and Z with two decimals. */
export const storedPath = (path: CubicPath): string =>
  path
    .map((segment) => {
      switch (segment.kind) {
        case 'close':
          return 'Z';
        case 'cubic': {
          const { x1, y1, x2, y2, x, y } = segment;
          return ['C', ...[x1, y1, x2, y2, x, y].map(short)].join(' ');
        }
        default:
          return [segment.kind === 'move' ? 'M' : 'L', short(segment.x), short(segment.y)].join(' ');
      }
    })
    .join(' ');

function short(value: number): number {
  if (!Number.isFinite(value) || Math.abs(value) > 1e6) throw new BadImage('has a path far outside the image');
  return Math.round(value * 100) / 100 + 0;
}

const samplesPerCurve = 16;

/** Points on the path, dense enough for its bounds and its length. */
function* pointsOn(path: CubicPath): Generator<{ point: Point; isMove: boolean }> {
  let pen: Point = { x: 0, y: 0 };
  let start = pen;
  for (const segment of path) {
    const end = segment.kind === 'close' ? start : { x: segment.x, y: segment.y };
    if (segment.kind === 'cubic') {
      const [one, two] = [
        { x: segment.x1, y: segment.y1 },
        { x: segment.x2, y: segment.y2 },
      ] as const;
      for (let i = 1; i < samplesPerCurve; i++)
        yield { point: onCurve(pen, one, two, end, i / samplesPerCurve), isMove: false };
    }
    yield { point: end, isMove: segment.kind === 'move' };
    if (segment.kind === 'move') start = end;
    pen = end;
  }
}

function onCurve(p0: Point, p1: Point, p2: Point, p3: Point, t: number): Point {
  const at = (a: number, b: number, c: number, d: number) =>
    (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t * t * c + t ** 3 * d;
  return { x: at(p0.x, p1.x, p2.x, p3.x), y: at(p0.y, p1.y, p2.y, p3.y) };
}

export function boundsOf(path: CubicPath): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { point } of pointsOn(path)) {
    [left, right] = [Math.min(left, point.x), Math.max(right, point.x)];
    [top, bottom] = [Math.min(top, point.y), Math.max(bottom, point.y)];
  }
  return left > right
    ? { x: 0, y: 0, width: 0, height: 0 }
    : { x: left, y: top, width: right - left, height: bottom - top };
}

export function lengthOf(path: CubicPath): number {
  let length = 0;
  let pen: Point | undefined;
  for (const { point, isMove } of pointsOn(path)) {
    if (pen !== undefined && !isMove) length += Math.hypot(point.x - pen.x, point.y - pen.y);
    pen = point;
  }
  return length;
}
