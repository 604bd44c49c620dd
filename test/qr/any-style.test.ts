import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Style } from '../../events/style.ts';
import { cornersDotTypes, cornersSquareTypes, dotsTypes } from '../../events/style-shapes.ts';
import { maxSizePx, minSizePx } from '../../src/qr/layout.ts';
import { drawPng } from '../../src/qr/png.ts';
import { drawSvg } from '../../src/qr/svg.ts';
import { styleWarnings } from '../../src/qr/warnings.ts';
import { assertWellFormed, decodePng, rasterize } from './support.ts';

const color = fc
  .tuple(fc.integer({ min: 0, max: 0xffffff }), fc.boolean())
  .map(([value, upper]) => value.toString(16).padStart(6, '0')[upper ? 'toUpperCase' : 'toLowerCase']())
  .map((digits) => `#${digits}`);

const style: fc.Arbitrary<Style> = fc.record(
  {
    dotsType: fc.constantFrom(...dotsTypes),
    dotsColor: color,
    backgroundColor: color,
    cornersSquareType: fc.constantFrom(...cornersSquareTypes),
    cornersSquareColor: color,
    cornersDotType: fc.constantFrom(...cornersDotTypes),
    cornersDotColor: color,
  },
  { requiredKeys: [] },
);
const url = fc.string({ unit: 'binary', maxLength: 40 }).map((path) => `https://s.example/${path}`.toWellFormed());
const size = fc.integer({ min: minSizePx, max: maxSizePx });
const smallSize = fc.integer({ min: minSizePx + 16, max: 300 });

test('any style, URL and title gives well-formed SVG that renders at the requested size', () => {
  fc.assert(
    fc.property(
      style,
      url,
      smallSize,
      fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
      (s, u, px, title) => {
        const svg = drawSvg(u, s, px, title === undefined ? {} : { title });
        assertWellFormed(svg);
        const { width, height } = rasterize(svg);
        expect([width, height]).toEqual([px, px]);
      },
    ),
    { numRuns: 50 },
  );
});

test('any style and size gives a PNG of exactly that size', async () => {
  await fc.assert(
    fc.asyncProperty(style, size, async (s, px) => {
      const { width, height } = decodePng(await drawPng('https://s.example/aB3xY7z', s, px));
      expect([width, height]).toEqual([px, px]);
    }),
    { numRuns: 15 },
  );
});

test('warnings of any style name a field that was given', () => {
  fc.assert(
    fc.property(style, (s) => {
      for (const { field, message } of styleWarnings(s)) {
        expect(Object.keys(s), 'field of the warning').toContain(field.replace(/\..*/, ''));
        expect(message).toMatch(/\.$/);
      }
    }),
  );
});
