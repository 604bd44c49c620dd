import type { Box } from './geometry.ts';

/** Steps of anti-aliasing between the background and a full colour. */
export const LEVELS = 32;

/** Every pixel row is measured along this many lines. */
const LINES = 8;

/** The last of the four edges; the first is the outer left one, those of the hole are between. */
const OUTER_RIGHT = 3;

/**
 * A shape as the differences between its pixel rows: those are few, and they are what PNG's "up" filter stores.
 * `rows[i]`, `columns[i]` say which pixel differs from the one above it, `deltas[i]` by how much (modulo 256).
 */
export interface Tile {
  readonly rows: Uint16Array;
  readonly columns: Uint16Array;
  readonly deltas: Uint8Array;
}

/** Most codes have one of a few sizes, so their tiles are the same ones again and again. A tile has at most some 20 KB. */
const MAX_KEPT = 256;
const kept = new Map<string, Tile>();

/** The tile of a shape, drawn or taken from those that were drawn before. */
export function tileFor(shape: Box, hole: Box | undefined, scale: number, base: number): Tile {
  const key = [shape.side, ...shape.radii, ...(hole?.radii ?? []), scale, base].join();
  let tile = kept.get(key);
  if (!tile) {
    tile = drawTile(shape, hole, scale, base);
    const [oldest] = kept.keys();
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(key, tile);
  }
  return tile;
}

/**
 * Draws a shape, with an optional hole in its middle, at `scale` pixels a module. A pixel's value is 0 outside, else
 * `base` + 1 to `base` + LEVELS by how much of it is covered.
 */
function drawTile(shape: Box, hole: Box | undefined, scale: number, base: number): Tile {
  const width = shape.side * scale;
  const rows: number[] = [];
  const columns: number[] = [];
  const deltas: number[] = [];
  const pixels = new Uint8Array(width);
  const step = hole ? 1 : OUTER_RIGHT;
  let above = newEdges();
  let edges = newEdges();
  measure(above, shape, hole, -1, scale);
  // One row more than the shape is high: there everything goes back to the background.
  for (let y = 0; y <= width; y++) {
    measure(edges, shape, hole, y, scale);
    let x = 0;
    // Between two rows only those pixels can change which one of the edges crosses or passes over.
    for (let edge = 0; edge < 4; edge += step) {
      const end = Math.ceil(Math.max(at(edges.last, edge), at(above.last, edge)));
      x = Math.max(x, Math.floor(Math.min(at(edges.first, edge), at(above.first, edge))));
      for (; x < end; x++) {
        const level = Math.round(coverage(edges.lines, x) * LEVELS);
        const value = level === 0 ? 0 : base + level;
        const delta = value - at(pixels, x);
        if (delta === 0) continue;
        rows.push(y);
        columns.push(x);
        deltas.push(delta);
        pixels[x] = value;
      }
    }
    [above, edges] = [edges, above];
  }
  return { rows: Uint16Array.from(rows), columns: Uint16Array.from(columns), deltas: Uint8Array.from(deltas) };
}

/**
 * Where the edges of a shape cross a pixel row, in pixels, from left to right: outer left, hole left, hole right, outer
 * right.
 */
interface Edges {
  /** Four for each line. */
  readonly lines: Float64Array;
  /** Of all lines, the leftmost and the rightmost place of each edge. */
  readonly first: Float64Array;
  readonly last: Float64Array;
}

function newEdges(): Edges {
  return { lines: new Float64Array(LINES * 4), first: new Float64Array(4), last: new Float64Array(4) };
}

function measure({ lines, first, last }: Edges, shape: Box, hole: Box | undefined, row: number, scale: number): void {
  // Above and below a box, and where there is no hole, left and right edge meet in the middle and enclose nothing.
  lines.fill((shape.side / 2) * scale);
  first.fill(Number.POSITIVE_INFINITY);
  last.fill(0);
  for (let line = 0; line < lines.length; line += 4) {
    const y = (row + (line / 4 + 0.5) / LINES) / scale;
    setSpan(lines, line, line + OUTER_RIGHT, shape, y, 0, scale);
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

/** How far the left or right edge of a box recedes at a height, between the corner above and the corner below. */
function indent(above: number, below: number, y: number, side: number): number {
  if (y < above) return above - Math.sqrt(above * above - (above - y) ** 2);
  if (side - y < below) return below - Math.sqrt(below * below - (below - side + y) ** 2);
  return 0;
}

/** The covered part of a pixel, from 0 to 1. */
function coverage(lines: Float64Array, x: number): number {
  let covered = 0;
  for (let line = 0; line < lines.length; line += 4) {
    covered +=
      overlap(x, at(lines, line), at(lines, line + OUTER_RIGHT)) - overlap(x, at(lines, line + 1), at(lines, line + 2));
  }
  return covered / LINES;
}

function overlap(x: number, left: number, right: number): number {
  return Math.max(0, Math.min(x + 1, right) - Math.max(x, left));
}

// Every index here is in range by construction; `?? 0` in these loops would cost a tenth of the time.
function at(values: Float64Array | Uint8Array, index: number): number {
  return values[index] as number;
}
