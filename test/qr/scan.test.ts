import { Resvg } from '@resvg/resvg-js';
import { describe, expect, test } from 'vitest';
import { drawPng } from '../../src/qr/png.ts';
import { drawSvg } from '../../src/qr/svg.ts';
import { SHAPES, scan, URL_OF_A_CODE } from './support.ts';

describe('a scanner reads exactly the short URL', () => {
  for (const size of [128, 256, 512, 2048]) {
    test.each(SHAPES)(`${size} px, $dotsType, $cornersSquareType, $cornersDotType`, async (shapes) => {
      expect(await scan(await drawPng(URL_OF_A_CODE, shapes, size))).toEqual([URL_OF_A_CODE]);
    });
  }

  test.each(SHAPES)('SVG, $dotsType, $cornersSquareType, $cornersDotType', async (shapes) => {
    const svg = drawSvg(URL_OF_A_CODE, shapes, 256);
    expect(await scan(new Resvg(svg).render().asPng())).toEqual([URL_OF_A_CODE]);
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7] as const)('with mask %i', async (mask) => {
    expect(await scan(await drawPng(URL_OF_A_CODE, { dotsType: 'rounded' }, 256, { mask }))).toEqual([URL_OF_A_CODE]);
  });

  test('in three colours', async () => {
    const style = {
      dotsType: 'classy-rounded',
      dotsColor: '#1B4332',
      backgroundColor: '#FFF8E7',
      cornersSquareType: 'extra-rounded',
      cornersSquareColor: '#7F1D1D',
      cornersDotType: 'dot',
      cornersDotColor: '#1E3A8A',
    } as const;
    expect(await scan(await drawPng(URL_OF_A_CODE, style, 512))).toEqual([URL_OF_A_CODE]);
    expect(await scan(await drawPng(URL_OF_A_CODE, { ...style, dotsType: 'square' }, 512))).toEqual([URL_OF_A_CODE]);
  });

  test.each([
    ['the shortest', 'https://a.io/x'],
    ['one of digits, which is still written byte by byte', 'HTTPS://A.IO/0123456789'],
    ['a custom code of 50 characters', `https://links.some-company.example/${'summer-menu'.repeat(4)}-2027a`],
    ['one of 180 bytes', `https://${'long.'.repeat(30)}example/${'x'.repeat(14)}`],
    ['one beyond ASCII', 'https://bücher.example/café'],
  ])('whatever its length: %s', async (_, url) => {
    expect(await scan(await drawPng(url, { dotsType: 'extra-rounded' }, 512))).toEqual([url]);
  });

  test('at the smallest size, one pixel for each module', async () => {
    expect(await scan(await drawPng(URL_OF_A_CODE, {}, 64))).toEqual([URL_OF_A_CODE]);
  });
});
