import type { Style } from '../../../../events/style.ts';
import { lookOf } from '../../../qr/style.ts';

export type { Style } from '../../../../events/style.ts';
export {
  cornersDotTypes,
  cornersSquareTypes,
  dotsTypes,
  errorCorrectionLevels,
  frameTypes,
} from '../../../../events/style-shapes.ts';

export const isColor = (text: string) => /^#[0-9A-Fa-f]{6}$/.test(text);

/** All presets have enough contrast to scan well. */
export const presets: readonly (readonly [string, Style])[] = [
  ['Classic', {}],
  ['Soft', { dotsType: 'rounded', cornersSquareType: 'extra-rounded', cornersDotType: 'dot', dotsColor: '#1C1B18' }],
  [
    'Forest',
    { dotsType: 'extra-rounded', cornersSquareType: 'extra-rounded', cornersDotType: 'dot', dotsColor: '#0B5D45' },
  ],
  [
    'Berry',
    {
      dotsType: 'dots',
      cornersSquareType: 'dot',
      cornersDotType: 'dot',
      dotsColor: '#7A1F4B',
      backgroundColor: '#FFF7F3',
    },
  ],
  [
    'Ocean',
    {
      dotsType: 'classy-rounded',
      cornersSquareType: 'extra-rounded',
      dotsColor: '#12406B',
      cornersDotColor: '#0A7EA4',
    },
  ],
  [
    'Terracotta',
    { dotsType: 'classy', dotsColor: '#3B2A24', cornersSquareColor: '#A9441F', backgroundColor: '#FBF3EA' },
  ],
];

/** Drops fields that equal the default, so that only the user's choices are stored. */
export function withoutDefaults(style: Style): Style {
  const defaults = lookOf({});
  const entries = Object.entries(style).filter(([field, value]) => {
    if (field === 'cornersSquareColor' || field === 'cornersDotColor') return true;
    // With a logo, another level is the default.
    if (field === 'errorCorrection') return style.logo !== undefined || value !== defaults.errorCorrection;
    if (field === 'frame') return style.frame?.type !== 'none';
    return value !== defaults[field as keyof Style];
  });
  return Object.fromEntries(entries);
}

/** The style with another value of a field, or without the field. */
export function withField<F extends keyof Style>(style: Style, field: F, value: Style[F] | undefined): Style {
  const { [field]: _, ...rest } = style;
  return value === undefined ? rest : { ...rest, [field]: value };
}
