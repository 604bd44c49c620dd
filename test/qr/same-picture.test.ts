import { describe, expect, test } from 'vitest';
import { drawPng } from '../../src/qr/png.ts';
import { drawSvg } from '../../src/qr/svg.ts';
import { decodePng, type Pixels, rasterise, SHAPES, URL_OF_A_CODE } from './support.ts';

const COLORS = {
  dotsColor: '#14213D',
  backgroundColor: '#FDF6E3',
  cornersSquareColor: '#9B2226',
  cornersDotColor: '#005F73',
};

/** How far two pictures are apart, in steps of a channel (0–255). */
function difference(one: Pixels, other: Pixels): { largest: number; mean: number } {
  expect([one.width, one.height]).toEqual([other.width, other.height]);
  let largest = 0;
  let sum = 0;
  for (let i = 0; i < one.rgb.length; i++) {
    const apart = Math.abs((one.rgb[i] ?? 0) - (other.rgb[i] ?? 0));
    largest = Math.max(largest, apart);
    sum += apart;
  }
  return { largest, mean: sum / one.rgb.length };
}

describe('SVG and PNG are the same picture', () => {
  for (const size of [64, 301, 512]) {
    test.each(SHAPES)(`${size} px, $dotsType, $cornersSquareType, $cornersDotType`, async (shapes) => {
      const style = { ...shapes, ...COLORS };
      const png = decodePng(await drawPng(URL_OF_A_CODE, style, size));
      const { largest, mean } = difference(png, rasterise(drawSvg(URL_OF_A_CODE, style, size)));
      const isSquare = Object.values(shapes).every((shape) => shape === 'square');
      // Renderers measure the pixels on an edge with different precision.
      expect(largest).toBeLessThanOrEqual(isSquare ? 0 : 40);
      expect(mean).toBeLessThanOrEqual(isSquare ? 0 : 0.8);
    });
  }

  test('at 2048 px', async () => {
    const style = { dotsType: 'extra-rounded', cornersSquareType: 'dot', cornersDotType: 'dot' } as const;
    const png = decodePng(await drawPng(URL_OF_A_CODE, style, 2048));
    expect(difference(png, rasterise(drawSvg(URL_OF_A_CODE, style, 2048))).mean).toBeLessThan(0.1);
  });
});
