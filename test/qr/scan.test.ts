import { Resvg } from '@resvg/resvg-js';
import { describe, expect, test } from 'vitest';
import { drawPng } from '../../src/qr/png.ts';
import { drawSvg } from '../../src/qr/svg.ts';
import { allShapes, eachShape, exampleUrl, scan } from './support.ts';

describe('a scanner reads exactly the short URL', () => {
  const sizes = [
    [128, allShapes],
    [256, allShapes],
    [512, eachShape],
    [2048, eachShape],
  ] as const;
  for (const [size, shapesOfSize] of sizes) {
    test.each(shapesOfSize)(`${size} px, $dotsType, $cornersSquareType, $cornersDotType`, async (shapes) => {
      expect(await scan(await drawPng(exampleUrl, shapes, size))).toEqual([exampleUrl]);
    });
  }

  test.each(allShapes)('SVG, $dotsType, $cornersSquareType, $cornersDotType', async (shapes) => {
    const svg = drawSvg(exampleUrl, shapes, 256);
    expect(await scan(new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng())).toEqual([exampleUrl]);
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7] as const)('with mask %i', async (mask) => {
    expect(await scan(await drawPng(exampleUrl, { dotsType: 'rounded' }, 256, { mask }))).toEqual([exampleUrl]);
  });

  test('in three colors', async () => {
    const style = {
      dotsType: 'classy-rounded',
      dotsColor: '#1B4332',
      backgroundColor: '#FFF8E7',
      cornersSquareType: 'extra-rounded',
      cornersSquareColor: '#7F1D1D',
      cornersDotType: 'dot',
      cornersDotColor: '#1E3A8A',
    } as const;
    expect(await scan(await drawPng(exampleUrl, style, 512))).toEqual([exampleUrl]);
    expect(await scan(await drawPng(exampleUrl, { ...style, dotsType: 'square' }, 512))).toEqual([exampleUrl]);
  });

  test.each([
    ['short', 'https://a.io/x'],
    ['upper case and digits, encoded in byte mode', 'HTTPS://A.IO/0123456789'],
    ['short code of 50 characters', `https://links.some-company.example/${'summer-menu'.repeat(4)}-2027a`],
    ['180 bytes', `https://${'long.'.repeat(30)}example/${'x'.repeat(14)}`],
    ['non-ASCII', 'https://bücher.example/café'],
  ])('URL: %s', async (_, url) => {
    expect(await scan(await drawPng(url, { dotsType: 'extra-rounded' }, 512))).toEqual([url]);
  });

  test('at the smallest size, one pixel per module', async () => {
    expect(await scan(await drawPng(exampleUrl, {}, 64))).toEqual([exampleUrl]);
  });
});
