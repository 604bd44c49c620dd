import type { Box } from './geometry.ts';
import type { Path, Segment } from './path.ts';

/** A corner of an outline and its radius. */
interface Corner {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

// The sides of a module in clockwise order: top, right, bottom, left. Side i ends in corner i + 1 of the radii.
const steps = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
] as const;
type Side = 0 | 1 | 2 | 3;
const turnRight = (side: Side) => ((side + 1) % 4) as Side;
const turnLeft = (side: Side) => ((side + 3) % 4) as Side;

/** The outline of a box, clockwise. */
export function boxPath(box: Box): Path {
  return loopPath(cornersOf(box));
}

/** The outline of a hole in a box: counterclockwise, so that no fill rule is needed. */
export function holePath(box: Box): Path {
  return loopPath(cornersOf(box).reverse());
}

/** The outlines of all dots. Dots with a common side share one outline, which avoids seams and keeps the document small. */
export function dotsPath(side: number, dots: readonly Box[]): Path {
  const joined = new Map<number, Box>();
  const circles: Segment[] = [];
  for (const dot of dots) {
    if (isCircle(dot)) circles.push({ kind: 'circle', x: dot.x + 0.5, y: dot.y + 0.5, radius: 0.5 });
    else joined.set(dot.y * side + dot.x, dot);
  }
  return [...circles, ...outlines(side, joined).flatMap(loopPath)];
}

function isCircle({ radii }: Box): boolean {
  return radii.every((radius) => radius === 0.5);
}

function cornersOf({ x, y, side, radii }: Box): Corner[] {
  return [
    { x, y, radius: radii[0] },
    { x: x + side, y, radius: radii[1] },
    { x: x + side, y: y + side, radius: radii[2] },
    { x, y: y + side, radius: radii[3] },
  ];
}

// Only convex corners are rounded, so the outline of the union is the outline of the squares with these corners rounded.
function outlines(side: number, dots: ReadonlyMap<number, Box>): Corner[][] {
  const at = (x: number, y: number) => (x < 0 || x >= side ? undefined : dots.get(y * side + x));
  const walked = new Set<Box>();
  const loops: Corner[][] = [];
  for (const start of dots.values()) {
    // Every outline has a top side, so starting at top sides finds all of them.
    if (at(start.x, start.y - 1) || walked.has(start)) continue;
    const loop: Corner[] = [];
    let dot = start;
    let along: Side = 0;
    do {
      if (along === 0) walked.add(dot);
      const step = steps[along];
      const outward = steps[turnLeft(along)];
      const ahead = at(dot.x + step.x, dot.y + step.y);
      const outside = ahead && at(ahead.x + outward.x, ahead.y + outward.y);
      if (!ahead) {
        along = turnRight(along);
        loop.push({ ...startOf(dot, along), radius: dot.radii[along] });
      } else if (outside) {
        dot = outside;
        along = turnLeft(along);
        loop.push({ ...startOf(dot, along), radius: 0 });
      } else {
        dot = ahead;
      }
    } while (dot !== start || along !== 0);
    loops.push(loop);
  }
  return loops;
}

/** The point where a side of a module starts. */
function startOf({ x, y }: Box, side: Side): { x: number; y: number } {
  return { x: side === 1 || side === 2 ? x + 1 : x, y: side === 2 || side === 3 ? y + 1 : y };
}

function loopPath(loop: readonly Corner[]): Path {
  const corners = loop.map((corner, i) => {
    const inward = direction(loop.at(i - 1) ?? corner, corner);
    const outward = direction(corner, loop[(i + 1) % loop.length] ?? corner);
    const { x, y, radius } = corner;
    return {
      corner,
      from: { x: x - inward.x * radius, y: y - inward.y * radius },
      to: { x: x + outward.x * radius, y: y + outward.y * radius },
    };
  });
  let pen = corners.at(-1)?.to;
  if (pen === undefined) return [];
  const path: Segment[] = [{ kind: 'move', x: pen.x, y: pen.y }];
  for (const { corner, from, to } of corners) {
    if (from.x !== pen.x || from.y !== pen.y) path.push({ kind: 'line', x: from.x, y: from.y });
    if (corner.radius > 0) path.push({ kind: 'corner', x1: corner.x, y1: corner.y, x: to.x, y: to.y });
    pen = to;
  }
  path.push({ kind: 'close' });
  return path;
}

function direction(from: Corner, to: Corner): { x: number; y: number } {
  return { x: Math.sign(to.x - from.x), y: Math.sign(to.y - from.y) };
}
