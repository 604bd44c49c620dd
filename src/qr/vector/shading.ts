import { mix, type Rgb, rgbOf } from '../color.ts';
import type { GradientFill, Stop } from '../fill.ts';
import { type InkSpace, inkOf } from './ink.ts';
import { numerals } from './numbers.ts';

const colorSpaces: Record<InkSpace, string> = { rgb: '/DeviceRGB', cmyk: '/DeviceCMYK' };

/** A gradient as a shading dictionary, which PDF and PostScript level 3 write alike. */
export function shadingOf(gradient: GradientFill, space: InkSpace, behind: string): string {
  const coordinates =
    gradient.type === 'linear'
      ? `/ShadingType 2/Coords[${numerals(gradient.x1, gradient.y1, gradient.x2, gradient.y2)}]`
      : `/ShadingType 3/Coords[${numerals(gradient.cx, gradient.cy, 0, gradient.cx, gradient.cy, gradient.r)}]`;
  const ink = `/ColorSpace${colorSpaces[space]}/Function ${functionOf(opaque(gradient.stops, behind), space)}`;
  return `<<${coordinates}${ink}/Extend[true true]>>`;
}

/** The color that a translucent color makes on the one behind it, which all printed formats can show. */
export function blended(color: string, opacity: number, behind: string): string {
  return opacity >= 1 ? color : hexOf(mix(rgbOf(behind), rgbOf(color), Math.max(0, opacity)));
}

const hexOf = (rgb: Rgb) => `#${rgb.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;

const opaque = (stops: readonly Stop[], behind: string): Stop[] =>
  stops.map(({ offset, color, opacity = 1 }) => ({ offset, color: blended(color, opacity, behind) }));

/** Interpolates between two colors, or is stitched together of such functions. */
function functionOf(given: readonly Stop[], space: InkSpace): string {
  const stops = padded(given);
  const pieces = stops.slice(1).map((stop, i) => {
    const from = stops[i] ?? stop;
    return `<</FunctionType 2/Domain[0 1]/C0[${inkOf(from.color, space)}]/C1[${inkOf(stop.color, space)}]/N 1>>`;
  });
  if (pieces.length === 1) return pieces.join('');
  const bounds = numerals(...stops.slice(1, -1).map(({ offset }) => offset));
  const encode = pieces.map(() => '0 1').join(' ');
  return `<</FunctionType 3/Domain[0 1]/Functions[${pieces.join('')}]/Bounds[${bounds}]/Encode[${encode}]>>`;
}

/** The stops in order, from 0 to 1: before the first and after the last one the color stays. */
function padded(given: readonly Stop[]): Stop[] {
  const stops = given.toSorted((a, b) => a.offset - b.offset);
  const [first, last] = [stops[0], stops.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError('a gradient needs a color');
  return [
    ...(first.offset > 0 ? [{ offset: 0, color: first.color }] : []),
    ...stops,
    ...(last.offset < 1 || stops.length === 1 ? [{ offset: 1, color: last.color }] : []),
  ];
}
