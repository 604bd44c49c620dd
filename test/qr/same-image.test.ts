import { describe, expect, test } from 'vitest';
import { drawPng } from '../../src/qr/png.ts';
import { drawSvg } from '../../src/qr/svg.ts';
import { allShapes, decodePng, eachShape, exampleUrl, type Pixels, rasterize } from './support.ts';

const colors = {
  dotsColor: '#14213D',
  backgroundColor: '#FDF6E3',
  cornersSquareColor: '#9B2226',
  cornersDotColor: '#005F73',
};

/** The largest and mean difference of two images per channel (0–255). */
function difference(one: Pixels, other: Pixels): { largest: number; mean: number } {
  expect([one.width, one.height]).toEqual([other.width, other.height]);
  let largest = 0;
  let sum = 0;
  for (let i = 0; i < one.rgb.length; i++) {
    const delta = Math.abs((one.rgb[i] ?? 0) - (other.rgb[i] ?? 0));
    largest = Math.max(largest, delta);
    sum += delta;
  }
  return { largest, mean: sum / one.rgb.length };
}

describe('SVG and PNG are the same image', () => {
  const sizes = [
    [64, allShapes],
    [301, allShapes],
    [512, eachShape],
  ] as const;
  for (const [size, shapesOfSize] of sizes) {
    test.each(shapesOfSize)(`${size} px, $dotsType, $cornersSquareType, $cornersDotType`, async (shapes) => {
      const style = { ...shapes, ...colors };
      const png = decodePng(await drawPng(exampleUrl, style, size));
      const { largest, mean } = difference(png, rasterize(drawSvg(exampleUrl, style, size)));
      const isSquare = Object.values(shapes).every((shape) => shape === 'square');
      // Renderers anti-alias with different precision.
      expect(largest).toBeLessThanOrEqual(isSquare ? 0 : 40);
      expect(mean).toBeLessThanOrEqual(isSquare ? 0 : 0.8);
    });
  }

  test('at 2048 px', async () => {
    const style = { dotsType: 'extra-rounded', cornersSquareType: 'dot', cornersDotType: 'dot' } as const;
    const png = decodePng(await drawPng(exampleUrl, style, 2048));
    expect(difference(png, rasterize(drawSvg(exampleUrl, style, 2048))).mean).toBeLessThan(0.1);
  });
});
