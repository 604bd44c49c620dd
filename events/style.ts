import { type Static, Type } from '@sinclair/typebox';
import { oneOf } from './one-of.ts';
import { cornersDotTypes, cornersSquareTypes, dotsTypes } from './style-shapes.ts';

const color = (description: string) =>
  Type.String({
    pattern: '^#[0-9A-Fa-f]{6}$',
    description,
    examples: ['#1A2B3C'],
    'x-expected': 'a color of the form #RRGGBB',
  });

/** The style of a code's image: set on create and immutable, so that downloads match printed images. */
export const StyleSchema = Type.Object(
  {
    dotsType: Type.Optional(
      oneOf(dotsTypes, {
        description: 'Shape of the modules. Default: square.',
      }),
    ),
    dotsColor: Type.Optional(color('Color of the modules, #RRGGBB. Default: #000000.')),
    backgroundColor: Type.Optional(color('Color behind the modules, #RRGGBB. Default: #FFFFFF.')),
    cornersSquareType: Type.Optional(
      oneOf(cornersSquareTypes, {
        description: 'Shape of the three outer corner rings. Default: square.',
      }),
    ),
    cornersSquareColor: Type.Optional(color('Color of the corner rings, #RRGGBB. Default: the dots’ color.')),
    cornersDotType: Type.Optional(
      oneOf(cornersDotTypes, { description: 'Shape of the three inner corner dots. Default: square.' }),
    ),
    cornersDotColor: Type.Optional(
      color('Color of the corner dots, #RRGGBB. Default: the color of the rings if given, else of the dots.'),
    ),
  },
  { additionalProperties: false, examples: [{ dotsType: 'rounded', dotsColor: '#1A2B3C' }] },
);

export type Style = Static<typeof StyleSchema>;
