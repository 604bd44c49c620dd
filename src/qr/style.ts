import type { Gradient, Style } from '../../events/style.ts';
import {
  cornersDotTypes,
  cornersSquareTypes,
  defaultFrameText,
  defaultLogoMargin,
  defaultLogoSize,
  defaultQuietZone,
  dotsTypes,
  type ErrorCorrection,
  errorCorrectionLevels,
  type FrameType,
  frameTypes,
  gradientTypes,
  type LogoShape,
  logoShapes,
  maxLogoMargin,
  maxLogoSize,
  maxQuietZone,
} from '../../events/style-shapes.ts';
import { contrast, rgbOf } from './color.ts';

type ShapeFields = 'dotsType' | 'cornersSquareType' | 'cornersDotType';
type ColorFields = 'dotsColor' | 'cornersSquareColor' | 'cornersDotColor' | 'backgroundColor';

export interface LogoLook {
  readonly id: string;
  readonly size: number;
  readonly margin: number;
  readonly shape: LogoShape;
  readonly background: string;
}

export interface FrameLook {
  readonly type: Exclude<FrameType, 'none'>;
  /** Empty for a box without text. */
  readonly text: string;
  readonly color: string;
  readonly textColor: string;
}

/** A style with all defaults filled in. */
export interface Look extends Readonly<Required<Pick<Style, ShapeFields | ColorFields>>> {
  readonly quietZone: number;
  /** The least level; a logo may need a higher one. */
  readonly errorCorrection: ErrorCorrection;
  readonly dotsGradient?: Gradient | undefined;
  /** The gradient of the dots, for corners without a color of their own. */
  readonly cornersSquareGradient?: Gradient | undefined;
  readonly cornersDotGradient?: Gradient | undefined;
  readonly backgroundGradient?: Gradient | undefined;
  readonly logo?: LogoLook | undefined;
  readonly frame?: FrameLook | undefined;
}

export const transparent = 'transparent';

/**
 * Fills in the defaults. Finder patterns are square by default, whatever the dots are, because scanners detect square
 * ones most reliably.
 */
export function lookOf(style: Style): Look {
  const dotsColor = checkedColor(style.dotsColor ?? '#000000');
  const cornersSquareColor = checkedColor(style.cornersSquareColor ?? dotsColor);
  const backgroundColor =
    style.backgroundColor === transparent ? transparent : checkedColor(style.backgroundColor ?? '#FFFFFF');
  const dotsGradient = style.dotsGradient && checkedGradient(style.dotsGradient);
  const cornersSquareGradient = style.cornersSquareColor === undefined ? dotsGradient : undefined;
  return {
    dotsType: checkedShape(dotsTypes, style.dotsType ?? 'square'),
    dotsColor,
    backgroundColor,
    cornersSquareType: checkedShape(cornersSquareTypes, style.cornersSquareType ?? 'square'),
    cornersSquareColor,
    cornersDotType: checkedShape(cornersDotTypes, style.cornersDotType ?? 'square'),
    cornersDotColor: checkedColor(style.cornersDotColor ?? cornersSquareColor),
    quietZone: checkedNumber(style.quietZone ?? defaultQuietZone, maxQuietZone),
    errorCorrection: checkedShape(
      errorCorrectionLevels,
      style.errorCorrection ?? (style.logo === undefined ? 'M' : 'H'),
    ),
    dotsGradient,
    cornersSquareGradient,
    cornersDotGradient: style.cornersDotColor === undefined ? cornersSquareGradient : undefined,
    backgroundGradient: style.backgroundGradient && checkedGradient(style.backgroundGradient),
    logo: style.logo && logoLook(style.logo, backgroundColor),
    frame: frameLook(style.frame, dotsColor),
  };
}

/** Whether a style can be drawn by the fast PNG path: solid colors, and nothing besides the symbol. */
export function isPlain(look: Look): boolean {
  return (
    look.backgroundColor !== transparent &&
    !look.dotsGradient &&
    !look.backgroundGradient &&
    look.logo === undefined &&
    look.frame === undefined
  );
}

function logoLook(logo: NonNullable<Style['logo']>, backgroundColor: string): LogoLook {
  const own = backgroundColor === transparent ? '#FFFFFF' : backgroundColor;
  return {
    id: logo.id,
    size: checkedNumber(logo.size ?? defaultLogoSize, maxLogoSize),
    margin: checkedNumber(logo.margin ?? defaultLogoMargin, maxLogoMargin),
    shape: checkedShape(logoShapes, logo.shape ?? 'square'),
    background: checkedColor(logo.background ?? own),
  };
}

function frameLook(frame: Style['frame'], dotsColor: string): FrameLook | undefined {
  if (frame === undefined || frame.type === 'none') return undefined;
  const type = checkedShape(frameTypes, frame.type) as FrameLook['type'];
  const color = checkedColor(frame.color ?? dotsColor);
  const onColor = contrast(rgbOf(color), [255, 255, 255]) >= contrast(rgbOf(color), [0, 0, 0]) ? '#FFFFFF' : '#000000';
  return {
    type,
    text: (frame.text ?? (type === 'box' ? '' : defaultFrameText)).trim(),
    color,
    textColor: checkedColor(frame.textColor ?? (type === 'box' ? color : onColor)),
  };
}

function checkedGradient({ type, rotation = 0, colorStops }: Gradient): Gradient {
  return {
    type: checkedShape(gradientTypes, type),
    rotation: checkedNumber(rotation, 360, -360),
    colorStops: colorStops
      .map(({ offset, color }) => ({ offset: checkedNumber(offset, 1), color: checkedColor(color) }))
      .sort((a, b) => a.offset - b.offset),
  };
}

// Styles are validated when they are stored, and again here because these values are written into SVG markup.
function checkedColor(value: string): string {
  if (!/^#[0-9A-Fa-f]{6}$/.test(value)) throw new RangeError(`a color must have the form #RRGGBB: ${value}`);
  return value.toUpperCase();
}

function checkedShape<T extends string>(allowed: readonly T[], value: T): T {
  if (!allowed.includes(value)) throw new RangeError(`a style value must be one of ${allowed.join(', ')}: ${value}`);
  return value;
}

function checkedNumber(value: number, maximum: number, minimum = 0): number {
  if (!(value >= minimum && value <= maximum))
    throw new RangeError(`a style value must be a number from ${minimum} to ${maximum}: ${value}`);
  return value;
}
