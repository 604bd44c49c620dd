/** Light modules around the symbol. */
export const QUIET_ZONE = 4;

/**
 * The smallest picture, in pixels: every short URL of up to 180 bytes (a symbol of 53 modules, 61 with its quiet zone)
 * still has a whole pixel for each module. Below that, modules would have to be dropped.
 */
export const MIN_SIZE = 64;
export const MAX_SIZE = 2048;
export const DEFAULT_SIZE = 512;

/** Where the symbol lies in a picture, in pixels. */
export interface Layout {
  readonly size: number;
  /** Whole pixels for each module. */
  readonly scale: number;
  /** From the picture's edge to the symbol, left and above; right and below there may be one pixel more. */
  readonly offset: number;
}

/** Modules get as many whole pixels as fit; what remains widens the quiet zone. */
export function layoutOf(side: number, size: number): Layout {
  if (!Number.isInteger(size) || size < MIN_SIZE || size > MAX_SIZE) {
    throw new RangeError(`size must be a whole number from ${MIN_SIZE} to ${MAX_SIZE}`);
  }
  const needed = side + 2 * QUIET_ZONE;
  const scale = Math.floor(size / needed);
  if (scale === 0) throw new RangeError(`size must be at least ${needed} for a short URL of this length`);
  return { size, scale, offset: Math.floor((size - side * scale) / 2) };
}
