import type { Box } from './geometry.ts';

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

/** Path data of a box, clockwise. */
export function boxPath(box: Box): string {
  return loopPath(cornersOf(box));
}

/** Path data of a hole in a box: counterclockwise, so that no fill rule is needed. */
export function holePath(box: Box): string {
  return loopPath(cornersOf(box).reverse());
}

/** Path data of all dots. Dots with a common side share one outline, which avoids seams and keeps the document small. */
export function dotsPath(side: number, dots: readonly Box[]): string {
  const joined = new Map<number, Box>();
  const circles: Box[] = [];
  for (const dot of dots) {
    if (isCircle(dot)) circles.push(dot);
    else joined.set(dot.y * side + dot.x, dot);
  }
  return circles.map(circlePath).join('') + outlines(side, joined).map(loopPath).join('');
}

function isCircle({ radii }: Box): boolean {
  return radii.every((radius) => radius === 0.5);
}

function circlePath({ x, y }: Box): string {
  return `M${pair(x, y + 0.5)}a.5 .5 0 1 1 1 0a.5 .5 0 1 1-1 0z`;
}

function cornersOf({ x, y, side, radii }: Box): Corner[] {
  return [
    { x, y, radius: radii[0] },
    { x: x + side, y, radius: radii[1] },
    { x: x + side, y: y + side, radius: radii[2] },
    { x, y: y + side, radius: radii[3] },
  ];
}

// Only convex corners are rounded, so the outline of the union is that of the squares with these corners rounded.
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

function loopPath(loop: readonly Corner[]): string {
  const corners = loop.map((corner, i) => {
    const before = loop.at(i - 1) ?? corner;
    const after = loop[(i + 1) % loop.length] ?? corner;
    const inward = direction(before, corner);
    const outward = direction(corner, after);
    return {
      from: { x: corner.x - inward.x * corner.radius, y: corner.y - inward.y * corner.radius },
      to: { x: corner.x + outward.x * corner.radius, y: corner.y + outward.y * corner.radius },
      radius: corner.radius,
      sweep: inward.x * outward.y - inward.y * outward.x > 0 ? 1 : 0,
    };
  });
  const last = corners.at(-1);
  if (!last) return '';
  let { to: pen } = last;
  let path = `M${pair(pen.x, pen.y)}`;
  for (const { from, to, radius, sweep } of corners) {
    if (from.x !== pen.x) path += `h${number(from.x - pen.x)}`;
    if (from.y !== pen.y) path += `v${number(from.y - pen.y)}`;
    if (radius > 0) {
      path += `a${pair(radius, radius)} 0 0 ${sweep} ${pair(to.x - from.x, to.y - from.y)}`;
    }
    pen = to;
  }
  return `${path}z`;
}

function direction(from: Corner, to: Corner): { x: number; y: number } {
  return { x: Math.sign(to.x - from.x), y: Math.sign(to.y - from.y) };
}

function pair(x: number, y: number): string {
  return y < 0 ? `${number(x)}${number(y)}` : `${number(x)} ${number(y)}`;
}

function number(value: number): string {
  return String(value).replace(/^(-?)0\./, '$1.');
}
