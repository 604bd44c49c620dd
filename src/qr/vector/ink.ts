import { type Rgb, rgbOf } from '../color.ts';
import type { InkSpace } from '../print-sizes.ts';
import { numeral } from './numbers.ts';

export type { InkSpace } from '../print-sizes.ts';

/** A color as the components of a color space, from 0 to 1. */
function componentsOf(rgb: Rgb, space: InkSpace): number[] {
  return space === 'rgb' ? rgb.map((channel) => channel / 255) : cmykOf(rgb);
}

/** Without a profile: black is black ink alone, so that small modules need no registration of four plates. */
function cmykOf(rgb: Rgb): number[] {
  const light = Math.max(...rgb) / 255;
  if (light === 0) return [0, 0, 0, 1];
  return [...rgb.map((channel) => (light - channel / 255) / light), 1 - light];
}

/** A color as PDF and PostScript read it. */
export const inkOf = (color: string, space: InkSpace): string =>
  componentsOf(rgbOf(color), space).map(numeral).join(' ');

/** Pixels of three bytes in the color space. */
export function inksOf(rgb: Uint8Array, space: InkSpace): Uint8Array {
  if (space === 'rgb') return rgb;
  const inks = new Uint8Array((rgb.length / 3) * 4);
  for (let from = 0, to = 0; from < rgb.length; from += 3, to += 4) {
    const color: Rgb = [rgb[from] as number, rgb[from + 1] as number, rgb[from + 2] as number];
    inks.set(
      cmykOf(color).map((share) => Math.round(share * 255)),
      to,
    );
  }
  return inks;
}
