import { contrast, luminance, rgbOf } from './color.ts';
import { lookOf, type Style } from './style.ts';

export interface StyleWarning {
  field: keyof Style;
  message: string;
}

const LEAST_CONTRAST = 3;

const FOREGROUNDS = [
  { field: 'dotsColor', part: 'dots' },
  { field: 'cornersSquareColor', part: 'corner squares' },
  { field: 'cornersDotColor', part: 'corner dots' },
] as const;

/**
 * What scanners will have trouble with in a style: too little contrast, or light modules on a dark background.
 *
 * @example
 * styleWarnings({ dotsColor: '#CCCCCC' });
 * // [{ field: 'dotsColor', message: 'The dots (#CCCCCC) and the background (#FFFFFF) have a contrast of 1.60:1; …' }]
 */
export function styleWarnings(style: Style): StyleWarning[] {
  const look = lookOf(style);
  const background = rgbOf(look.backgroundColor);
  // A colour that a part inherits is blamed once, on the field that set it; the background is to blame when it is
  // the only one that was given.
  const blamed = FOREGROUNDS.filter(({ field }) => style[field] !== undefined || field === 'dotsColor');
  return blamed.flatMap(({ field, part }) => {
    const color = rgbOf(look[field]);
    const against = `The ${part} (${look[field]}) and the background (${look.backgroundColor})`;
    const faults: string[] = [];
    const ratio = contrast(color, background);
    if (ratio < LEAST_CONTRAST) {
      faults.push(`${against} have a contrast of ${twoPlaces(ratio)}:1; scanners need at least ${LEAST_CONTRAST}:1.`);
    }
    if (luminance(color) > luminance(background)) {
      faults.push(
        `${against} are inverted, light on dark; many scanners read only dark modules on a light background.`,
      );
    }
    if (faults.length === 0) return [];
    return [{ field: style[field] === undefined ? 'backgroundColor' : field, message: faults.join(' ') }];
  });
}

// Cut, not rounded: 2.999 must not be reported as the 3.00 that it misses.
function twoPlaces(ratio: number): string {
  return (Math.floor(ratio * 100) / 100).toFixed(2);
}
