/** A step of an outline that a font or a logo can have, in absolute coordinates. */
export type CurveSegment =
  | { readonly kind: 'move'; readonly x: number; readonly y: number }
  | { readonly kind: 'line'; readonly x: number; readonly y: number }
  | {
      readonly kind: 'quadratic';
      readonly x1: number;
      readonly y1: number;
      readonly x: number;
      readonly y: number;
    }
  | CubicSegment
  | { readonly kind: 'close' };

export interface CubicSegment {
  readonly kind: 'cubic';
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  readonly x: number;
  readonly y: number;
}

/**
 * A step of an outline. `corner` is a quarter of a circle to `x`, `y`, which rounds the corner at `x1`, `y1`. `circle` is an
 * outline of its own, clockwise, around its center.
 */
export type Segment =
  | CurveSegment
  | { readonly kind: 'corner'; readonly x1: number; readonly y1: number; readonly x: number; readonly y: number }
  | { readonly kind: 'circle'; readonly x: number; readonly y: number; readonly radius: number };

export type Path = readonly Segment[];

/** Moves, lines and cubic curves: all that PDF, PostScript and stored logos have. */
export type CubicPath = readonly Exclude<CurveSegment, { kind: 'quadratic' }>[];

/** The distance of a control point from the end of a quarter of a circle, in radii. */
const quarterHandle = (4 / 3) * Math.tan(Math.PI / 8);

/**
 * Replaces all round segments by cubic curves.
 *
 * @example
 * cubicsOf([{ kind: 'circle', x: 5, y: 5, radius: 1 }]); // move 4 5, four curves, close
 */
export function cubicsOf(path: Path): CubicPath {
  const cubics: CubicPath[number][] = [];
  let [penX, penY, startX, startY] = [0, 0, 0, 0];
  const towards = (x1: number, y1: number, x: number, y: number, share: number) => {
    const between = (from: number, to: number) => from + (to - from) * share;
    const [fromX, fromY, toX, toY] = [between(penX, x1), between(penY, y1), between(x, x1), between(y, y1)];
    cubics.push({ kind: 'cubic', x1: fromX, y1: fromY, x2: toX, y2: toY, x, y });
    [penX, penY] = [x, y];
  };
  const moveTo = (x: number, y: number) => {
    cubics.push({ kind: 'move', x, y });
    [penX, penY, startX, startY] = [x, y, x, y];
  };
  for (const segment of path) {
    switch (segment.kind) {
      case 'move':
        moveTo(segment.x, segment.y);
        break;
      case 'close':
        cubics.push(segment);
        [penX, penY] = [startX, startY];
        break;
      case 'quadratic':
        towards(segment.x1, segment.y1, segment.x, segment.y, 2 / 3);
        break;
      case 'corner':
        towards(segment.x1, segment.y1, segment.x, segment.y, quarterHandle);
        break;
      case 'circle': {
        const { x, y, radius } = segment;
        const [left, top, right, bottom] = [x - radius, y - radius, x + radius, y + radius];
        moveTo(left, y);
        towards(left, top, x, top, quarterHandle);
        towards(right, top, right, y, quarterHandle);
        towards(right, bottom, x, bottom, quarterHandle);
        towards(left, bottom, left, y, quarterHandle);
        cubics.push({ kind: 'close' });
        break;
      }
      default:
        cubics.push(segment);
        [penX, penY] = [segment.x, segment.y];
    }
  }
  return cubics;
}

/** Moves every point of a path. */
export function mapPoints<Some extends CurveSegment>(
  path: readonly Some[],
  map: (x: number, y: number) => { readonly x: number; readonly y: number },
): Some[];
export function mapPoints(
  path: readonly CurveSegment[],
  map: (x: number, y: number) => { readonly x: number; readonly y: number },
): CurveSegment[] {
  return path.map((segment) => {
    if (segment.kind === 'close') return segment;
    const { x, y } = map(segment.x, segment.y);
    if (segment.kind === 'move' || segment.kind === 'line') return { kind: segment.kind, x, y };
    const { x: x1, y: y1 } = map(segment.x1, segment.y1);
    if (segment.kind === 'quadratic') return { kind: segment.kind, x1, y1, x, y };
    const { x: x2, y: y2 } = map(segment.x2, segment.y2);
    return { kind: segment.kind, x1, y1, x2, y2, x, y };
  });
}
