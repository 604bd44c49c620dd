import { mix, type Rgb, rgbOf } from './color.ts';
import type { Box, Geometry, Radii } from './geometry.ts';
import type { Layout } from './layout.ts';
import type { Look } from './style.ts';
import { levels, type Tile, tileFor } from './tile.ts';

/** An uncompressed PNG image: pixels are palette indexes, and each row starts with its filter byte. */
export interface Raster {
  readonly bitDepth: 1 | 2 | 8;
  readonly palette: readonly Rgb[];
  readonly rows: Uint8Array;
}

const noFilter = 0;
const upFilter = 2;

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
  for (const { color, shapes } of partsOf(geometry, look)) {
    for (const { shape, hole } of shapes) {
      paint(shape, 1 + colors.indexOf(color));
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

/** One byte per pixel. Shapes never overlap, so the row differences of all shapes can be added. */
function smoothRaster(geometry: Geometry, { size, scale, offset }: Layout, look: Look): Raster {
  const colors = foregrounds(look);
  const stride = 1 + size;
  const rows = new Uint8Array(stride * size);
  for (let y = 0; y < size; y++) rows[y * stride] = upFilter;

  const place = (tile: Tile, { x, y }: Box) => {
    const origin = (offset + y * scale) * stride + 1 + offset + x * scale;
    for (let i = 0; i < tile.deltas.length; i++) {
      const at = origin + (tile.rows[i] ?? 0) * stride + (tile.columns[i] ?? 0);
      rows[at] = (rows[at] ?? 0) + (tile.deltas[i] ?? 0);
    }
  };
  for (const { color, shapes } of partsOf(geometry, look)) {
    const tiles = new Map<Radii, Tile>();
    for (const { shape, hole } of shapes) {
      const tile = tiles.get(shape.radii) ?? tileFor(shape, hole, scale, colors.indexOf(color) * levels);
      tiles.set(shape.radii, tile);
      place(tile, shape);
    }
  }

  const background = rgbOf(look.backgroundColor);
  const steps = Array.from({ length: levels }, (_, i) => (i + 1) / levels);
  const palette = [
    background,
    ...colors.map(rgbOf).flatMap((color) => steps.map((step) => mix(background, color, step))),
  ];
  return { bitDepth: 8, palette, rows };
}

/** All shapes of one color. */
interface Part {
  readonly color: string;
  readonly shapes: readonly { readonly shape: Box; readonly hole?: Box }[];
}

// In this order, because eyes are drawn into the holes of the rings.
function partsOf({ dots, rings, eyes }: Geometry, look: Look): Part[] {
  return [
    { color: look.dotsColor, shapes: dots.map((shape) => ({ shape })) },
    { color: look.cornersSquareColor, shapes: rings.map(({ outer, hole }) => ({ shape: outer, hole })) },
    { color: look.cornersDotColor, shapes: eyes.map((shape) => ({ shape })) },
  ];
}

function foregrounds(look: Look): string[] {
  return [...new Set([look.dotsColor, look.cornersSquareColor, look.cornersDotColor])];
}
