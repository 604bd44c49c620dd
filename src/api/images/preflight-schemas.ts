import { Type as t } from '@sinclair/typebox';
import { StyleSchema } from '../../../events/style.ts';
import { proofSizesMm } from '../../proof/proof.ts';
import { exact } from '../http/schemas.ts';
import { contentField } from './content.ts';

const sizes = proofSizesMm.join(', ');
const smallest = (description: string) => t.Union([t.Integer(), t.Null()], { description, examples: [15] });

export const Preflight = t.Object(
  {
    readable: t.Boolean({
      description: `Whether at least one decoder reads the undistorted print at one of ${sizes} mm.`,
    }),
    smallest_mm: smallest(
      `The smallest width of ${sizes} mm, quiet zone and frame included, from which on every decoder reads the print undistorted, out of focus, at an angle, in low light and in a compressed photo; null if there is none.`,
    ),
    contrast: t.Number({
      description: 'Contrast ratio of modules and background where they differ least, from 1 to 21 (WCAG 2).',
      examples: [21],
    }),
    damage_tolerated: t.Number({
      description: 'The share of the symbol, from 0 to 1, that can be covered in one spot and still be read.',
      examples: [0.08],
    }),
    decoders: t.Array(
      t.Object(
        {
          name: t.String({ examples: ['ZXing'] }),
          reads_mm: t.Array(t.Integer(), {
            description: 'Widths at which it reads the undistorted print.',
            examples: [[10, 15, 20, 30]],
          }),
          smallest_mm: smallest('As `smallest_mm`, for this decoder.'),
        },
        exact,
      ),
      { description: 'What each decoder, independent of the others, could read.' },
    ),
    reasons: t.Array(
      t.Object(
        {
          field: t.String({ description: 'What to change.', examples: ['style.dotsColor'] }),
          message: t.String({
            examples: ['The dots (#CCCCCC) and the background (#FFFFFF) have a contrast of 1.60:1.'],
          }),
        },
        exact,
      ),
      { description: 'Why it is hard to scan, in plain words; empty if it is not.', examples: [[]] },
    ),
  },
  exact,
);

export const NewPreflight = t.Object(
  {
    style: StyleSchema,
    short_code: t.Optional(
      t.String({
        description:
          'The short code that it is meant for: a longer one needs more modules. Default: one of 7 characters.',
        examples: ['spring-26'],
        'x-expected': 'a string of 3 to 50 letters, digits, "-" or "_"',
      }),
    ),
    content: t.Optional(contentField),
  },
  { ...exact, examples: [{ style: { dotsType: 'rounded', dotsColor: '#1A2B3C' } }] },
);
