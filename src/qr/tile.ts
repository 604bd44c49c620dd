import type { Box } from './geometry.ts';

/** The number of anti-aliasing steps between the background and a full color. */
export const levels = 32;

/** Coverage of a pixel row is sampled along this many lines. */
const linesPerRow = 8;

/** The index of the last of the four edges; the edges of the hole are 1 and 2. */
const outerRight = 3;

/**
 * A shape as the differences between its pixel rows, which are few and are what PNG's "up" filter stores: the pixel at
 * `rows[i]`, `columns[i]` differs from the one above it by `deltas[i]` (modulo 256).
 */
export interface Tile {
  readonly rows: Uint16Array;
  readonly columns: Uint16Array;
  readonly deltas: Uint8Array;
  /** The pixels themselves. */
  readonly values: Uint8Array;
}

/** Most codes have one of a few sizes, so tiles are reused. A tile has at most about 25 KB. */
const maxCachedTiles = 256;
const cached = new Map<string, Tile>();

/** The tile of a shape, from the cache if possible. */
export function tileFor(shape: Box, hole: Box | undefined, scale: number, base: number): Tile {
  const key = [shape.side, ...shape.radii, ...(hole?.radii ?? []), scale, base].join();
  let tile = cached.get(key);
  if (!tile) {
    tile = drawTile(shape, hole, scale, base);
    const [oldest] = cached.keys();
    if (cached.size >= maxCachedTiles && oldest !== undefined) cached.delete(oldest);
    cached.set(key, tile);
  }
  return tile;
}

/**
 * Draws a shape with an optional hole at `scale` pixels per module. A pixel's value is 0 outside the shape, otherwise
 * `base` + 1 to `base` + `levels` in proportion to its coverage.
 */
function drawTile(shape: Box, hole: Box | undefined, scale: number, base: number): Tile {
  const width = shape.side * scale;
  const rows: number[] = [];
  const columns: number[] = [];
  const deltas: number[] = [];
  const values: number[] = [];
  const pixels = new Uint8Array(width);
  const step = hole ? 1 : outerRight;
  let above = newEdges();
  let edges = newEdges();
  measure(above, shape, hole, -1, scale);
  // One more row than the shape's height, which returns every pixel to the background.
  for (let y = 0; y <= width; y++) {
    measure(edges, shape, hole, y, scale);
    let x = 0;
    // Between two rows, only pixels that an edge crosses or passes can change.
    for (let edge = 0; edge < 4; edge += step) {
      const end = Math.ceil(Math.max(at(edges.last, edge), at(above.last, edge)));
      x = Math.max(x, Math.floor(Math.min(at(edges.first, edge), at(above.first, edge))));
      for (; x < end; x++) {
        const level = Math.round(coverage(edges.lines, x) * levels);
        const value = level === 0 ? 0 : base + level;
        const delta = value - at(pixels, x);
        if (delta === 0) continue;
        rows.push(y);
        columns.push(x);
        deltas.push(delta);
        values.push(value);
        pixels[x] = value;
      }
    }
    [above, edges] = [edges, above];
  }
  return {
    rows: Uint16Array.from(rows),
    columns: Uint16Array.from(columns),
    deltas: Uint8Array.from(deltas),
    values: Uint8Array.from(values),
  };
}

/**
 * The x positions in pixels at which the edges of a shape cross a pixel row: outer left, hole left, hole right, outer
 * right.
 */
interface Edges {
  /** Four positions for each sampling line. */
  readonly lines: Float64Array;
  /** The minimum and maximum position of each edge over all lines. */
  readonly first: Float64Array;
  readonly last: Float64Array;
}

function newEdges(): Edges {
  return { lines: new Float64Array(linesPerRow * 4), first: new Float64Array(4), last: new Float64Array(4) };
}

function measure({ lines, first, last }: Edges, shape: Box, hole: Box | undefined, row: number, scale: number): void {
  // Outside a box, and without a hole, the left and right edges coincide and enclose nothing.
  lines.fill((shape.side / 2) * scale);
  first.fill(Number.POSITIVE_INFINITY);
  last.fill(0);
  for (let line = 0; line < lines.length; line += 4) {
    const y = (row + (line / 4 + 0.5) / linesPerRow) / scale;
    setSpan(lines, line, line + outerRight, shape, y, 0, scale);
    if (hole) setSpan(lines, line + 1, line + 2, hole, y - (hole.y - shape.y), hole.x - shape.x, scale);
    for (let edge = 0; edge < 4; edge++) {
      const x = at(lines, line + edge);
      if (x < at(first, edge)) first[edge] = x;
      if (x > at(last, edge)) last[edge] = x;
    }
  }
}

function setSpan(
  lines: Float64Array,
  left: number,
  right: number,
  box: Box,
  y: number,
  x: number,
  scale: number,
): void {
  if (y < 0 || y > box.side) return;
  const { side, radii } = box;
  lines[left] = (x + indent(radii[0], radii[3], y, side)) * scale;
  lines[right] = (x + side - indent(radii[1], radii[2], y, side)) * scale;
}

/** How far rounding moves the left or right edge of a box inward at height `y`; `above` and `below` are corner radii. */
function indent(above: number, below: number, y: number, side: number): number {
  if (y < above) return above - Math.sqrt(above * above - (above - y) ** 2);
  if (side - y < below) return below - Math.sqrt(below * below - (below - side + y) ** 2);
  return 0;
}

/** The covered share of a pixel, from 0 to 1. */
function coverage(lines: Float64Array, x: number): number {
  let covered = 0;
  for (let line = 0; line < lines.length; line += 4) {
    covered +=
      overlap(x, at(lines, line), at(lines, line + outerRight)) - overlap(x, at(lines, line + 1), at(lines, line + 2));
  }
  return covered / linesPerRow;
}

function overlap(x: number, left: number, right: number): number {
  return Math.max(0, Math.min(x + 1, right) - Math.max(x, left));
}

// Every index is in range by construction; `?? 0` would make these loops 10 % slower.
function at(values: Float64Array | Uint8Array, index: number): number {
  return values[index] as number;
}
