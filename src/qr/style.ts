export const DOTS_TYPES = ['square', 'dots', 'rounded', 'extra-rounded', 'classy', 'classy-rounded'] as const;
export const CORNERS_SQUARE_TYPES = ['square', 'dot', 'extra-rounded'] as const;
export const CORNERS_DOT_TYPES = ['square', 'dot'] as const;

export type DotsType = (typeof DOTS_TYPES)[number];
export type CornersSquareType = (typeof CORNERS_SQUARE_TYPES)[number];
export type CornersDotType = (typeof CORNERS_DOT_TYPES)[number];

/** A code's style as given on create; colors are `#RRGGBB` in either case. */
export interface Style {
  dotsType?: DotsType;
  dotsColor?: string;
  backgroundColor?: string;
  cornersSquareType?: CornersSquareType;
  cornersSquareColor?: string;
  cornersDotType?: CornersDotType;
  cornersDotColor?: string;
}

/** A style with all defaults filled in. */
export type Look = Readonly<Required<Style>>;

/**
 * Fills in the defaults. Finder patterns are square by default, whatever the dots are, because scanners detect square
 * ones most reliably.
 */
export function lookOf(style: Style): Look {
  const dotsColor = color(style.dotsColor ?? '#000000');
  const cornersSquareColor = color(style.cornersSquareColor ?? dotsColor);
  return {
    dotsType: oneOf(DOTS_TYPES, style.dotsType ?? 'square'),
    dotsColor,
    backgroundColor: color(style.backgroundColor ?? '#FFFFFF'),
    cornersSquareType: oneOf(CORNERS_SQUARE_TYPES, style.cornersSquareType ?? 'square'),
    cornersSquareColor,
    cornersDotType: oneOf(CORNERS_DOT_TYPES, style.cornersDotType ?? 'square'),
    cornersDotColor: color(style.cornersDotColor ?? cornersSquareColor),
  };
}

// Styles are validated when they are stored, and again here because these strings are written into SVG markup.
function color(value: string): string {
  if (!/^#[0-9A-Fa-f]{6}$/.test(value)) throw new RangeError(`a color must have the form #RRGGBB: ${value}`);
  return value.toUpperCase();
}

function oneOf<T extends string>(allowed: readonly T[], value: T): T {
  if (!allowed.includes(value)) throw new RangeError(`a style value must be one of ${allowed.join(', ')}: ${value}`);
  return value;
}
