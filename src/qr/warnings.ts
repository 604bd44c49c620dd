import type { Gradient, Style } from '../../events/style.ts';
import { defaultQuietZone } from '../../events/style-shapes.ts';
import { contrast, luminance, rgbOf } from './color.ts';
import { type Look, lookOf, transparent } from './style.ts';
import { type FrameFont, missingCharacters } from './text.ts';

export interface StyleWarning {
  /** Path of the field within the style, such as `frame.text`. */
  field: string;
  message: string;
}

const minContrast = 3;

/** A part of the symbol, and the field of the style that colors it. */
const foregroundParts = [
  { field: 'dotsColor', gradient: 'dotsGradient', part: 'dots' },
  { field: 'cornersSquareColor', gradient: 'cornersSquareGradient', part: 'corner squares' },
  { field: 'cornersDotColor', gradient: 'cornersDotGradient', part: 'corner dots' },
] as const;

/**
 * Warns about styles that scanners may fail to read: low contrast, light modules on a dark background, or a narrow quiet
 * zone; and about frames that people may fail to read. Characters are checked only with a font.
 *
 * @example
 * styleWarnings({ dotsColor: '#CCCCCC' });
 * // [{ field: 'dotsColor', message: 'The dots (#CCCCCC) and the background (#FFFFFF) have a contrast of 1.60:1; …' }]
 */
export function styleWarnings(style: Style, font?: FrameFont): StyleWarning[] {
  const look = lookOf(style);
  return [
    ...colorWarnings(style, look),
    ...rotationWarnings(style, 'dotsGradient'),
    ...rotationWarnings(style, 'backgroundGradient'),
    ...quietZoneWarnings(look),
    ...frameWarnings(look, font),
  ];
}

function colorWarnings(style: Style, look: Look): StyleWarning[] {
  // The color of what a transparent image is put on is unknown; most paper is white.
  const solid = look.backgroundColor === transparent ? '#FFFFFF' : look.backgroundColor;
  const backgrounds = colorsOf(solid, look.backgroundGradient);
  // An inherited color is reported once, for the field that set it; if only the background was given, it is reported.
  const reported = foregroundParts.filter(({ field }) => style[field] !== undefined || field === 'dotsColor');
  return reported.flatMap(({ field, gradient, part }) => {
    const foregrounds = colorsOf(look[field], look[gradient]);
    const problems = problemsOf(part, foregrounds, backgrounds);
    if (problems.length === 0) return [];
    const own = look[gradient] === undefined ? field : 'dotsGradient';
    const backgroundField = look.backgroundGradient === undefined ? 'backgroundColor' : 'backgroundGradient';
    return [{ field: style[own] === undefined ? backgroundField : own, message: problems.join(' ') }];
  });
}

const colorsOf = (color: string, gradient: Gradient | undefined): string[] =>
  gradient === undefined ? [color] : gradient.colorStops.map((stop) => stop.color);

/** Compares every color of a gradient with every color of the background, since any two of them may meet. */
function problemsOf(part: string, foregrounds: string[], backgrounds: string[]): string[] {
  const pairs = foregrounds.flatMap((color) => backgrounds.map((background) => ({ color, background })));
  const ratioOf = ({ color, background }: (typeof pairs)[number]) => contrast(rgbOf(color), rgbOf(background));
  const subject = ({ color, background }: (typeof pairs)[number]) =>
    `The ${part} (${color}) and the background (${background})`;
  const [worst] = pairs.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  const inverted = pairs.find(({ color, background }) => luminance(rgbOf(color)) > luminance(rgbOf(background)));
  const problems: string[] = [];
  if (worst !== undefined && ratioOf(worst) < minContrast)
    problems.push(
      `${subject(worst)} have a contrast of ${twoDecimals(ratioOf(worst))}:1; scanners need at least ${minContrast}:1.`,
    );
  if (inverted !== undefined)
    problems.push(
      `${subject(inverted)} are inverted, light on dark; many scanners read only dark modules on a light background.`,
    );
  return problems;
}

function rotationWarnings(style: Style, field: 'dotsGradient' | 'backgroundGradient'): StyleWarning[] {
  const rotation = style[field]?.rotation ?? 0;
  if (Math.abs(rotation) <= 2 * Math.PI) return [];
  const message = `The rotation of ${rotation} is in radians, more than a full turn; ${rotation}° is ${((rotation * Math.PI) / 180).toFixed(3)}.`;
  return [{ field: `${field}.rotation`, message }];
}

function quietZoneWarnings({ quietZone }: Look): StyleWarning[] {
  if (quietZone >= defaultQuietZone) return [];
  const modules = quietZone === 1 ? '1 module' : `${quietZone} modules`;
  const message = `The quiet zone has ${modules}; scanners need ${defaultQuietZone}, unless the code is printed on a light surface.`;
  return [{ field: 'quietZone', message }];
}

function frameWarnings({ frame, backgroundColor }: Look, font: FrameFont | undefined): StyleWarning[] {
  if (frame === undefined || frame.text === '') return [];
  const surface = frame.type !== 'box' ? frame.color : backgroundColor === transparent ? '#FFFFFF' : backgroundColor;
  const ratio = contrast(rgbOf(frame.textColor), rgbOf(surface));
  const missing = font === undefined ? [] : missingCharacters(frame.text, font);
  return [
    ...(ratio >= minContrast
      ? []
      : [
          {
            field: 'frame.textColor',
            message: `The text of the frame (${frame.textColor}) and what is behind it (${surface}) have a contrast of ${twoDecimals(ratio)}:1; people need at least ${minContrast}:1.`,
          },
        ]),
    ...(missing.length === 0
      ? []
      : [
          {
            field: 'frame.text',
            message: `The font of frames has no ${missing.map((char) => `“${char}”`).join(', ')}; an empty box is drawn instead.`,
          },
        ]),
  ];
}

// Truncated, so that 2.999 is not reported as 3.00.
function twoDecimals(ratio: number): string {
  return (Math.floor(ratio * 100) / 100).toFixed(2);
}
