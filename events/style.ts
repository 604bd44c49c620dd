import { type Static, Type } from '@sinclair/typebox';
import { oneOf } from './one-of.ts';
import {
  cornersDotTypes,
  cornersSquareTypes,
  defaultFrameText,
  defaultLogoMargin,
  defaultLogoSize,
  defaultQuietZone,
  dotsTypes,
  errorCorrectionLevels,
  frameTypes,
  gradientTypes,
  logoShapes,
  maxColorStops,
  maxFrameTextLength,
  maxLogoMargin,
  maxLogoSize,
  maxQuietZone,
  minLogoSize,
} from './style-shapes.ts';

const color = (description: string) =>
  Type.String({
    pattern: '^#[0-9A-Fa-f]{6}$',
    description,
    examples: ['#1A2B3C'],
    'x-expected': 'a color of the form #RRGGBB',
  });

/** With the names and the geometry of `qr-code-styling`. */
const gradient = (description: string) =>
  Type.Object(
    {
      type: oneOf(gradientTypes, { description: 'Along a line, or from the center outwards.' }),
      rotation: Type.Optional(
        Type.Number({
          minimum: -360,
          maximum: 360,
          description: 'Direction of a linear gradient in radians, clockwise; 0 is left to right. Default: 0.',
        }),
      ),
      colorStops: Type.Array(
        Type.Object(
          {
            offset: Type.Number({ minimum: 0, maximum: 1, description: 'Where the color is reached, 0 to 1.' }),
            color: color('Color at the offset, #RRGGBB.'),
          },
          { additionalProperties: false },
        ),
        { minItems: 2, maxItems: maxColorStops, description: `2 to ${maxColorStops} colors.` },
      ),
    },
    {
      additionalProperties: false,
      description,
      examples: [
        {
          type: 'linear',
          rotation: 0.785,
          colorStops: [
            { offset: 0, color: '#1A2B3C' },
            { offset: 1, color: '#7A1F4B' },
          ],
        },
      ],
    },
  );

const logo = Type.Object(
  {
    id: Type.String({
      pattern: '^logo_[0-9A-Za-z]{20,40}$',
      description: 'Identifier of a logo of the account, from `POST /v1/logos`.',
      examples: ['logo_0VMNcq2hE3kx0dTtWq8LbY'],
      'x-expected': 'the id of a logo, logo_…',
    }),
    size: Type.Optional(
      Type.Number({
        minimum: minLogoSize,
        maximum: maxLogoSize,
        description: `Longer side of the logo as a share of the symbol’s width, ${minLogoSize} to ${maxLogoSize}; with shape circle the diameter of the circle that it fits into. Default: ${defaultLogoSize}.`,
      }),
    ),
    margin: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: maxLogoMargin,
        description: `Modules left out around the logo, 0 to ${maxLogoMargin}. Default: ${defaultLogoMargin}.`,
      }),
    ),
    shape: Type.Optional(
      oneOf(logoShapes, {
        description: 'Shape that is painted with `background` behind the logo; none paints nothing. Default: square.',
      }),
    ),
    background: Type.Optional(
      color('Color behind the logo, #RRGGBB. Default: the background color, or white if that is transparent.'),
    ),
  },
  {
    additionalProperties: false,
    description:
      'An image in the center. Modules under it are left out, and the error correction level rises to what that needs.',
  },
);

const frame = Type.Object(
  {
    type: oneOf(frameTypes, {
      description:
        'none; box: a border; label-top and label-bottom: a border with a band for the text; bubble: a speech bubble with the text below.',
    }),
    text: Type.Optional(
      Type.String({
        pattern: `^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{1,${maxFrameTextLength}}$`,
        description: `Call to action, 1 to ${maxFrameTextLength} characters: Latin, Greek or Cyrillic letters. Default: “${defaultFrameText}”; none for a box.`,
        examples: ['Scan me'],
        'x-expected': `a text of 1 to ${maxFrameTextLength} characters`,
      }),
    ),
    color: Type.Optional(color('Color of the frame, #RRGGBB. Default: the dots’ color.')),
    textColor: Type.Optional(
      color('Color of the text, #RRGGBB. Default: the one of white and black with more contrast; in a box, its color.'),
    ),
  },
  { additionalProperties: false, description: 'A frame around the code, with a call to action.' },
);

/** The style of a code's image: set on create and immutable, so that downloads match printed images. */
export const StyleSchema = Type.Object(
  {
    dotsType: Type.Optional(
      oneOf(dotsTypes, {
        description: 'Shape of the modules. Default: square.',
      }),
    ),
    dotsColor: Type.Optional(color('Color of the modules, #RRGGBB. Default: #000000.')),
    dotsGradient: Type.Optional(
      gradient('Gradient of the modules, instead of their color; corners without a color of their own take it too.'),
    ),
    backgroundColor: Type.Optional(
      Type.String({
        pattern: '^(#[0-9A-Fa-f]{6}|transparent)$',
        description: 'Color behind the modules: #RRGGBB, or transparent. Default: #FFFFFF.',
        examples: ['#FFFFFF'],
        'x-expected': 'a color of the form #RRGGBB, or transparent',
      }),
    ),
    backgroundGradient: Type.Optional(gradient('Gradient of the background, instead of its color.')),
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
    logo: Type.Optional(logo),
    frame: Type.Optional(frame),
    quietZone: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxQuietZone,
        description: `Light margin around the symbol in modules, 0 to ${maxQuietZone}; scanners need 4. Default: ${defaultQuietZone}.`,
      }),
    ),
    errorCorrection: Type.Optional(
      oneOf(errorCorrectionLevels, {
        description:
          'How much of the symbol may be damaged: L 7 %, M 15 %, Q 25 %, H 30 %. Default: M, with a logo H; a logo raises it if it needs more.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ dotsType: 'rounded', dotsColor: '#1A2B3C' }] },
);

export type Style = Static<typeof StyleSchema>;
export type Gradient = NonNullable<Style['dotsGradient']>;
export type LogoStyle = NonNullable<Style['logo']>;
export type FrameStyle = NonNullable<Style['frame']>;
