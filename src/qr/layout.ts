/** The width of the light margin around the symbol, in modules. */
export const quietZone = 4;

/**
 * The smallest picture, in pixels. It has at least one pixel per module for every short URL of up to 180 bytes (a
 * symbol of 53 modules, 61 with its quiet zone).
 */
export const minSizePx = 64;
export const maxSizePx = 2048;
export const defaultSizePx = 512;

/** The position of the symbol in a picture, in pixels. */
export interface Layout {
  readonly size: number;
  /** Whole pixels for each module. */
  readonly scale: number;
  /** The left and top margin; the right and bottom margin can be one pixel wider. */
  readonly offset: number;
}

/** Gives each module as many whole pixels as fit; the remaining pixels widen the quiet zone. */
export function layoutOf(side: number, size: number): Layout {
  if (!Number.isInteger(size) || size < minSizePx || size > maxSizePx) {
    throw new RangeError(`size must be a whole number from ${minSizePx} to ${maxSizePx}`);
  }
  const needed = side + 2 * quietZone;
  const scale = Math.floor(size / needed);
  if (scale === 0) throw new RangeError(`size must be at least ${needed} for a short URL of this length`);
  return { size, scale, offset: Math.floor((size - side * scale) / 2) };
}
