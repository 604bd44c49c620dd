import type { Style } from '../../events/style.ts';
import { cornersDotTypes, cornersSquareTypes, dotsTypes } from '../../events/style-shapes.ts';

/** A style with all defaults filled in. */
export type Look = Readonly<Required<Style>>;

/**
 * Fills in the defaults. Finder patterns are square by default, whatever the dots are, because scanners detect square
 * ones most reliably.
 */
export function lookOf(style: Style): Look {
  const dotsColor = checkedColor(style.dotsColor ?? '#000000');
  const cornersSquareColor = checkedColor(style.cornersSquareColor ?? dotsColor);
  return {
    dotsType: checkedShape(dotsTypes, style.dotsType ?? 'square'),
    dotsColor,
    backgroundColor: checkedColor(style.backgroundColor ?? '#FFFFFF'),
    cornersSquareType: checkedShape(cornersSquareTypes, style.cornersSquareType ?? 'square'),
    cornersSquareColor,
    cornersDotType: checkedShape(cornersDotTypes, style.cornersDotType ?? 'square'),
    cornersDotColor: checkedColor(style.cornersDotColor ?? cornersSquareColor),
  };
}

// Styles are validated when they are stored, and again here because these strings are written into SVG markup.
function checkedColor(value: string): string {
  if (!/^#[0-9A-Fa-f]{6}$/.test(value)) throw new RangeError(`a color must have the form #RRGGBB: ${value}`);
  return value.toUpperCase();
}

function checkedShape<T extends string>(allowed: readonly T[], value: T): T {
  if (!allowed.includes(value)) throw new RangeError(`a style value must be one of ${allowed.join(', ')}: ${value}`);
  return value;
}
