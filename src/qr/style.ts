export const DOTS_TYPES = ['square', 'dots', 'rounded', 'extra-rounded', 'classy', 'classy-rounded'] as const;
export const CORNERS_SQUARE_TYPES = ['square', 'dot', 'extra-rounded'] as const;
export const CORNERS_DOT_TYPES = ['square', 'dot'] as const;

export type DotsType = (typeof DOTS_TYPES)[number];
export type CornersSquareType = (typeof CORNERS_SQUARE_TYPES)[number];
export type CornersDotType = (typeof CORNERS_DOT_TYPES)[number];

/** A code's style as its owner gave it: colours are `#RRGGBB`, either case. */
export interface Style {
  dotsType?: DotsType;
  dotsColor?: string;
  backgroundColor?: string;
  cornersSquareType?: CornersSquareType;
  cornersSquareColor?: string;
  cornersDotType?: CornersDotType;
  cornersDotColor?: string;
}

/** A style with nothing left open: what is drawn. */
export type Look = Readonly<Required<Style>>;

/**
 * Fills in what the style leaves open. Finder patterns stay square unless asked otherwise, whatever the dots are:
 * scanners find them most easily that way.
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

// Whoever stores styles has checked them; checked again here because these strings are written into markup.
function color(value: string): string {
  if (!/^#[0-9A-Fa-f]{6}$/.test(value)) throw new RangeError(`not a colour of the form #RRGGBB: ${value}`);
  return value.toUpperCase();
}

function oneOf<T extends string>(allowed: readonly T[], value: T): T {
  if (!allowed.includes(value)) throw new RangeError(`not one of ${allowed.join(', ')}: ${value}`);
  return value;
}
