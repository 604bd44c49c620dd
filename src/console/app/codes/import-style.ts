import {
  logoShapes,
  maxFrameTextLength,
  maxLogoMargin,
  maxLogoSize,
  maxQuietZone,
  minLogoSize,
} from '../../../../events/style-shapes.ts';
import { isWithin } from '../parts/field-errors.ts';
import {
  cornersDotTypes,
  cornersSquareTypes,
  dotsTypes,
  errorCorrectionLevels,
  frameTypes,
  isColor,
  type Style,
} from './style.ts';

interface Rule {
  /** Where the value goes in a style, as the API names it. */
  path: string;
  /** The value, or undefined if the text is not one. */
  read(text: string): string | number | undefined;
  /** What the cell must be: "dotsType must be one of …". */
  rule: string;
}

const color = (path: string): Rule => ({
  path,
  read: (text) => (isColor(text) ? text : undefined),
  rule: 'must be a color such as #1A2B3C',
});
/** In any case, as people type in spreadsheets. */
const oneOf = (path: string, values: readonly string[]): Rule => ({
  path,
  read: (text) => values.find((value) => value.toLowerCase() === text.toLowerCase()),
  rule: `must be one of ${values.join(', ')}`,
});
const number = (path: string, min: number, max: number, pattern: RegExp, kind: string): Rule => ({
  path,
  read: (text) => {
    const value = Number(text);
    return pattern.test(text) && value >= min && value <= max ? value : undefined;
  },
  rule: `must be ${kind} from ${min} to ${max}`,
});
const whole = /^\d+$/;
const decimal = /^\d*\.?\d+$/;

/** Columns of an import that decide how a code looks. Gradients, which are lists of colors, have none. */
const rules = {
  dotsType: oneOf('dotsType', dotsTypes),
  dotsColor: color('dotsColor'),
  backgroundColor: {
    path: 'backgroundColor',
    read: (text) => (isColor(text) ? text : text.toLowerCase() === 'transparent' ? 'transparent' : undefined),
    rule: 'must be a color such as #1A2B3C, or transparent',
  },
  cornersSquareType: oneOf('cornersSquareType', cornersSquareTypes),
  cornersSquareColor: color('cornersSquareColor'),
  cornersDotType: oneOf('cornersDotType', cornersDotTypes),
  cornersDotColor: color('cornersDotColor'),
  quietZone: number('quietZone', 0, maxQuietZone, whole, 'a whole number'),
  errorCorrection: oneOf('errorCorrection', errorCorrectionLevels),
  logo: {
    path: 'logo.id',
    read: (text) => (/^logo_[0-9A-Za-z]{20,40}$/.test(text) ? text : undefined),
    rule: 'must be the id of a logo, logo_…',
  },
  logoSize: number('logo.size', minLogoSize, maxLogoSize, decimal, 'a number'),
  logoMargin: number('logo.margin', 0, maxLogoMargin, decimal, 'a number'),
  logoShape: oneOf('logo.shape', logoShapes),
  logoBackground: color('logo.background'),
  frame: oneOf('frame.type', frameTypes),
  frameText: {
    path: 'frame.text',
    read: (text) => (text.length <= maxFrameTextLength && !/[\p{Cc}\u2028\u2029]/u.test(text) ? text : undefined),
    rule: `must be one line of up to ${maxFrameTextLength} characters`,
  },
  frameColor: color('frame.color'),
  frameTextColor: color('frame.textColor'),
} satisfies Record<string, Rule>;

export type StyleColumn = keyof typeof rules;
export const styleColumns = Object.keys(rules) as StyleColumn[];

/** The frame of a row that has a text or a color for one, and no type. */
const defaultFrameType = 'label-bottom';

interface ReadStyle {
  style: Style;
  errors: { field: StyleColumn; message: string }[];
}

/** Reads the cells of a row; empty cells leave what `base`, the style of all rows, has. */
export function readStyleCells(cells: Partial<Record<StyleColumn, string>>, base: Style = {}): ReadStyle {
  const style: Record<string, unknown> = {};
  const parts: { logo: Record<string, unknown>; frame: Record<string, unknown> } = { logo: {}, frame: {} };
  const errors: ReadStyle['errors'] = [];
  for (const column of styleColumns) {
    const text = cells[column] ?? '';
    if (text === '') continue;
    const { path, read, rule } = rules[column];
    const value = read(text);
    const [field, part] = path.split('.') as ['logo' | 'frame', string?];
    if (value === undefined) errors.push({ field: column, message: `${column} ${rule}` });
    else if (part === undefined) style[field] = value;
    else parts[field][part] = value;
    if (field === 'logo' && column !== 'logo' && (cells.logo ?? '') === '' && base.logo === undefined)
      errors.push({ field: column, message: `${column} needs a logo in the column logo` });
  }
  if (Object.keys(parts.logo).length > 0) style['logo'] = { ...base.logo, ...parts.logo };
  if (Object.keys(parts.frame).length > 0)
    style['frame'] =
      parts.frame['type'] === 'none' ? parts.frame : { type: defaultFrameType, ...base.frame, ...parts.frame };
  return { style: { ...withoutHidden(base, style), ...style }, errors };
}

/** A gradient would hide the color that a row has. */
function withoutHidden(base: Style, own: Style): Style {
  const { dotsGradient, backgroundGradient, ...rest } = base;
  return {
    ...rest,
    ...(dotsGradient === undefined || own.dotsColor !== undefined ? {} : { dotsGradient }),
    ...(backgroundGradient === undefined || own.backgroundColor !== undefined ? {} : { backgroundGradient }),
  };
}

/** The column of a field that the service names, such as `style.logo.id`. */
export const styleColumnOf = (field: string): StyleColumn | undefined =>
  styleColumns.find((column) => isWithin(field, `style.${rules[column].path}`)) ??
  styleColumns.find((column) => isWithin(field, `style.${rules[column].path.split('.')[0]}`));
