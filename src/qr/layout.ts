import { defaultQuietZone } from '../../events/style-shapes.ts';

/**
 * The smallest image, in pixels. It has at least one pixel per module for every short URL of up to 180 bytes (a
 * symbol of 53 modules, 61 with its quiet zone).
 */
export const minSizePx = 64;
export const maxSizePx = 2048;
export const defaultSizePx = 512;

/** The space in modules that an image needs around the symbol: its quiet zone, and what a frame adds on each side. */
export interface Margins {
  readonly quietZone: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export const unframed = (quietZone: number): Margins => ({ quietZone, left: 0, right: 0, top: 0, bottom: 0 });

/** The position of the symbol in an image, in pixels. */
export interface Layout {
  /** The width, and without a frame the height. */
  readonly size: number;
  readonly height: number;
  /** Whole pixels for each module. */
  readonly scale: number;
  /** The left margin of the symbol, and without a frame the top margin; the right and bottom margin can be wider by 1. */
  readonly offset: number;
  readonly offsetY: number;
}

/** Gives each module as many whole pixels as fit; the remaining pixels widen the quiet zone. */
export function layoutOf(
  side: number,
  size: number,
  margins: Margins = unframed(defaultQuietZone),
  maxPx = maxSizePx,
): Layout {
  if (!Number.isInteger(size) || size < minSizePx || size > maxPx) {
    throw new RangeError(`size must be a whole number from ${minSizePx} to ${maxPx}`);
  }
  const { quietZone, left, right, top, bottom } = margins;
  const needed = side + 2 * quietZone + left + right;
  const scale = Math.floor(size / needed);
  if (scale === 0) throw new RangeError(`size must be at least ${needed} for a QR code with as many modules`);
  const inner = size - (left + right) * scale;
  const quietPx = Math.floor((inner - side * scale) / 2);
  return {
    size,
    height: inner + (top + bottom) * scale,
    scale,
    offset: left * scale + quietPx,
    offsetY: top * scale + quietPx,
  };
}
