import type { Style } from '../../events/style.ts';
import { contrast, luminance, rgbOf } from './color.ts';
import { lookOf } from './style.ts';

export interface StyleWarning {
  field: keyof Style;
  message: string;
}

const minContrast = 3;

const foregroundFields = [
  { field: 'dotsColor', part: 'dots' },
  { field: 'cornersSquareColor', part: 'corner squares' },
  { field: 'cornersDotColor', part: 'corner dots' },
] as const;

/**
 * Warns about styles that scanners may fail to read: low contrast, or light modules on a dark background.
 *
 * @example
 * styleWarnings({ dotsColor: '#CCCCCC' });
 * // [{ field: 'dotsColor', message: 'The dots (#CCCCCC) and the background (#FFFFFF) have a contrast of 1.60:1; …' }]
 */
export function styleWarnings(style: Style): StyleWarning[] {
  const look = lookOf(style);
  const background = rgbOf(look.backgroundColor);
  // An inherited color is reported once, for the field that set it; if only the background was given, it is reported.
  const reported = foregroundFields.filter(({ field }) => style[field] !== undefined || field === 'dotsColor');
  return reported.flatMap(({ field, part }) => {
    const color = rgbOf(look[field]);
    const subject = `The ${part} (${look[field]}) and the background (${look.backgroundColor})`;
    const problems: string[] = [];
    const ratio = contrast(color, background);
    if (ratio < minContrast) {
      problems.push(`${subject} have a contrast of ${twoDecimals(ratio)}:1; scanners need at least ${minContrast}:1.`);
    }
    if (luminance(color) > luminance(background)) {
      problems.push(
        `${subject} are inverted, light on dark; many scanners read only dark modules on a light background.`,
      );
    }
    if (problems.length === 0) return [];
    return [{ field: style[field] === undefined ? 'backgroundColor' : field, message: problems.join(' ') }];
  });
}

// Truncated, so that 2.999 is not reported as 3.00.
function twoDecimals(ratio: number): string {
  return (Math.floor(ratio * 100) / 100).toFixed(2);
}
