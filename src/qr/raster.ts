import { mix, type Rgb, rgbOf } from './color.ts';
import type { Box, Geometry, Radii } from './geometry.ts';
import type { Layout } from './layout.ts';
import { noFilter, upFilter } from './png-filters.ts';
import type { Look } from './style.ts';
import { levels, type Tile, tileFor } from './tile.ts';

/** An uncompressed PNG image: pixels are palette indexes, and each row starts with its filter byte. */
export interface Raster {
  readonly bitDepth: 1 | 2 | 8;
  readonly palette: readonly Rgb[];
  readonly rows: Uint8Array;
}

/** Draws without anti-aliasing if every shape is square, otherwise with it. */
export function rasterOf(geometry: Geometry, layout: Layout, look: Look): Raster {
  const isSquare = [look.dotsType, look.cornersSquareType, look.cornersDotType].every((type) => type === 'square');
  return isSquare ? flatRaster(geometry, layout, look) : smoothRaster(geometry, layout, look);
}

/** One or two bits per pixel. Only the first pixel row of each row of modules is written; the others repeat it. */
function flatRaster(geometry: Geometry, { size, scale, offset }: Layout, look: Look): Raster {
  const { side } = geometry;
  const colors = foregrounds(look);
  const indexes = new Uint8Array(side * side);
  const paint = (box: Box, index: number) => {
    for (let y = box.y; y < box.y + box.side; y++) {
      indexes.fill(index, y * side + box.x, y * side + box.x + box.side);
    }
  };
  for (const { fill, shapes } of partsOf(geometry, colorsOf(look))) {
    for (const { shape, hole } of shapes) {
      paint(shape, 1 + colors.indexOf(fill));
      if (hole) paint(hole, 0);
    }
  }

  const bitDepth = colors.length === 1 ? 1 : 2;
  const perByte = 8 / bitDepth;
  const stride = 1 + Math.ceil(size / perByte);
  const rows = new Uint8Array(stride * size);
  for (let y = 0; y < size; y++) rows[y * stride] = upFilter;
  for (let y = 0; y < side; y++) {
    const row = (offset + y * scale) * stride;
    rows[row] = noFilter;
    for (let pixel = 0; pixel < side * scale; pixel++) {
      const index = indexes[y * side + Math.floor(pixel / scale)] ?? 0;
      if (index === 0) continue;
      const at = offset + pixel;
      const byte = row + 1 + Math.floor(at / perByte);
      rows[byte] = (rows[byte] ?? 0) | (index << (8 - bitDepth * (1 + (at % perByte))));
    }
  }
  // Without this, the quiet zone below would repeat the last row of modules.
  rows[(offset + side * scale) * stride] = noFilter;
  return { bitDepth, palette: [rgbOf(look.backgroundColor), ...colors.map(rgbOf)], rows };
}

/** One byte per pixel. */
function smoothRaster(geometry: Geometry, layout: Layout, look: Look): Raster {
  const { size } = layout;
  const colors = foregrounds(look);
  const stride = 1 + size;
  const rows = new Uint8Array(stride * size);
  for (let y = 0; y < size; y++) rows[y * stride] = upFilter;
  addShapes(rows, stride, 1, partsOf(geometry, colorsOf(look)), layout);

  const background = rgbOf(look.backgroundColor);
  const steps = Array.from({ length: levels }, (_, i) => (i + 1) / levels);
  const palette = [
    background,
    ...colors.map(rgbOf).flatMap((color) => steps.map((step) => mix(background, color, step))),
  ];
  return { bitDepth: 8, palette, rows };
}

/** All shapes of one fill. */
interface Part<F> {
  readonly fill: F;
  readonly shapes: readonly { readonly shape: Box; readonly hole?: Box }[];
}

interface Fills<F> {
  readonly dots: F;
  readonly rings: F;
  readonly eyes: F;
}

/** In this order, because eyes are drawn into the holes of the rings. */
export function partsOf<F>({ dots, rings, eyes }: Geometry, fills: Fills<F>): Part<F>[] {
  return [
    { fill: fills.dots, shapes: dots.map((shape) => ({ shape })) },
    { fill: fills.rings, shapes: rings.map(({ outer, hole }) => ({ shape: outer, hole })) },
    { fill: fills.eyes, shapes: eyes.map((shape) => ({ shape })) },
  ];
}

/** Each fill once; the number of a fill is its position here. */
export const distinctFills = <F>({ dots, rings, eyes }: Fills<F>): F[] => [...new Set([dots, rings, eyes])];

/**
 * Adds the differences between each pixel row and the one above it. A pixel of fill number `n` that is covered by
 * `level` of `levels` steps has the value `n * levels + level`. Shapes never overlap, so their differences add up.
 */
function addShapes<F>(
  deltas: Uint8Array,
  stride: number,
  firstPixel: number,
  parts: readonly Part<F>[],
  layout: Layout,
): void {
  placeTiles(parts, layout, (tile, x, y) => {
    const origin = y * stride + firstPixel + x;
    for (let i = 0; i < tile.deltas.length; i++) {
      const at = origin + (tile.rows[i] ?? 0) * stride + (tile.columns[i] ?? 0);
      deltas[at] = (deltas[at] ?? 0) + (tile.deltas[i] ?? 0);
    }
  });
}

/** Calls `place` with the tile of each shape and the pixel of its top-left corner. */
export function placeTiles<F>(
  parts: readonly Part<F>[],
  { scale, offset, offsetY }: Layout,
  place: (tile: Tile, x: number, y: number) => void,
): void {
  const fills = [...new Set(parts.map(({ fill }) => fill))];
  for (const { fill, shapes } of parts) {
    const tiles = new Map<Radii, Tile>();
    for (const { shape, hole } of shapes) {
      const tile = tiles.get(shape.radii) ?? tileFor(shape, hole, scale, fills.indexOf(fill) * levels);
      tiles.set(shape.radii, tile);
      place(tile, offset + shape.x * scale, offsetY + shape.y * scale);
    }
  }
}

const colorsOf = (look: Look): Fills<string> => ({
  dots: look.dotsColor,
  rings: look.cornersSquareColor,
  eyes: look.cornersDotColor,
});

const foregrounds = (look: Look): string[] => distinctFills(colorsOf(look));
