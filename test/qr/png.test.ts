import { describe, expect, test } from 'vitest';
import type { Style } from '../../events/style.ts';
import { layoutOf, maxSizePx, minSizePx } from '../../src/qr/layout.ts';
import { matrixOf } from '../../src/qr/matrix.ts';
import { drawPng } from '../../src/qr/png.ts';
import { allShapes, decodePng, exampleUrl } from './support.ts';

describe('layout', () => {
  test('every size has whole pixels per module, a quiet zone of at least four modules, and a centered symbol', () => {
    for (const side of [21, 25, 29, 33, 37, 41, 45, 49, 53]) {
      for (let size = minSizePx; size <= maxSizePx; size++) {
        const { scale, offset } = layoutOf(side, size);
        const after = size - offset - side * scale;
        const isRight =
          Number.isInteger(scale) &&
          scale >= 1 &&
          offset >= 4 * scale &&
          (after === offset || after === offset + 1) &&
          (scale + 1) * (side + 8) > size;
        if (!isRight) expect.fail(`side ${side}, size ${size}: scale ${scale}, offset ${offset}`);
      }
    }
  });

  test.each([0, 1, 40, 63, 2049, 512.5, -1, Number.NaN, Number.POSITIVE_INFINITY])('rejects a size of %d', (size) => {
    expect(() => layoutOf(29, size)).toThrow(RangeError);
  });

  test('rejects an image too small for its URL, naming the required size', async () => {
    const url = `https://example.com/${'x'.repeat(220)}`;
    await expect(drawPng(url, {}, 64)).rejects.toThrow('size must be at least 69');
    expect(decodePng(await drawPng(url, {}, 69)).width).toBe(69);
  });
});

describe('PNG', () => {
  test.each([64, 65, 127, 128, 500, 511, 512, 513, 1000, 2047, 2048])(
    'is exactly %i pixels wide and high',
    async (size) => {
      const flat = decodePng(await drawPng(exampleUrl, {}, size));
      expect([flat.width, flat.height]).toEqual([size, size]);
      const smooth = decodePng(await drawPng(exampleUrl, { dotsType: 'rounded' }, size));
      expect([smooth.width, smooth.height]).toEqual([size, size]);
    },
  );

  test('by default has one bit per pixel, black on white, and equals the symbol module by module', async () => {
    const matrix = matrixOf(exampleUrl);
    const { scale, offset } = layoutOf(matrix.side, 300);
    const png = decodePng(await drawPng(exampleUrl, {}, 300));
    expect([png.bitDepth, png.colors]).toEqual([1, 2]);
    for (let y = 0; y < 300; y++) {
      for (let x = 0; x < 300; x++) {
        const dark = matrix.isDark(Math.floor((x - offset) / scale), Math.floor((y - offset) / scale));
        if (png.at(x, y) !== (dark ? '#000000' : '#FFFFFF')) expect.fail(`${x},${y} is ${png.at(x, y)}`);
      }
    }
  });

  test('is deterministic', async () => {
    const style = { dotsType: 'classy', dotsColor: '#aabbcc' } as const;
    expect(await drawPng(exampleUrl, style, 256)).toEqual(await drawPng(exampleUrl, style, 256));
  });

  test('has the quiet zone in the background color', async () => {
    const { scale } = layoutOf(matrixOf(exampleUrl).side, 200);
    for (const shapes of allShapes) {
      const png = decodePng(await drawPng(exampleUrl, { ...shapes, backgroundColor: '#FFEEDD' }, 200));
      for (let along = 0; along < 200; along++) {
        for (let depth = 0; depth < 4 * scale; depth++) {
          const sides = [
            png.at(along, depth),
            png.at(along, 199 - depth),
            png.at(depth, along),
            png.at(199 - depth, along),
          ];
          if (sides.some((color) => color !== '#FFEEDD')) expect.fail(`${along} ${depth}: ${sides}`);
        }
      }
    }
  });
});

/** The colors in the middle of each part. */
async function partColors(style: Style) {
  const matrix = matrixOf(exampleUrl);
  const { scale, offset } = layoutOf(matrix.side, 512);
  const png = decodePng(await drawPng(exampleUrl, style, 512));
  const middle = (x: number, y: number) => {
    const [px, py] = [x, y].map((module) => offset + Math.floor((module + 0.5) * scale)) as [number, number];
    return png.at(px, py);
  };
  // The module at (8, side - 8), beside the lower finder pattern, is dark in every symbol.
  return { dots: middle(8, matrix.side - 8), square: middle(3, 0), dot: middle(3, 3), background: middle(3, 1) };
}

describe('colors', () => {
  const [red, green, blue, cream] = ['#880000', '#006600', '#000088', '#FFFFEE'];
  const cases: [string, Style, [dots: string, square: string, dot: string, background: string]][] = [
    ['nothing given', {}, ['#000000', '#000000', '#000000', '#FFFFFF']],
    ['dots', { dotsColor: red }, [red, red, red, '#FFFFFF']],
    ['background', { backgroundColor: cream }, ['#000000', '#000000', '#000000', cream]],
    ['corner squares', { cornersSquareColor: green }, ['#000000', green, green, '#FFFFFF']],
    ['corner dots', { cornersDotColor: blue }, ['#000000', '#000000', blue, '#FFFFFF']],
    ['dots, corner squares', { dotsColor: red, cornersSquareColor: green }, [red, green, green, '#FFFFFF']],
    ['dots, corner dots', { dotsColor: red, cornersDotColor: blue }, [red, red, blue, '#FFFFFF']],
    [
      'all',
      { dotsColor: red, backgroundColor: cream, cornersSquareColor: green, cornersDotColor: blue },
      [red, green, blue, cream],
    ],
    ['lower case', { dotsColor: '#abcdef' }, ['#ABCDEF', '#ABCDEF', '#ABCDEF', '#FFFFFF']],
  ] as const as never;
  test.each(cases)('given: %s', async (_, style, [dots, square, dot, background]) => {
    expect(await partColors(style)).toEqual({ dots, square, dot, background });
    const round = { cornersSquareType: 'dot', cornersDotType: 'dot', dotsType: 'dots' } as const;
    expect(await partColors({ ...style, ...round })).toEqual({ dots, square, dot, background });
  });

  test('square shapes in several colors use two bits per pixel', async () => {
    expect(decodePng(await drawPng(exampleUrl, { cornersDotColor: '#0000AA' }, 128)).bitDepth).toBe(2);
  });
});

describe('rejects an invalid style', () => {
  test.each([
    { dotsColor: 'red' },
    { dotsColor: '#FFF' },
    { backgroundColor: '#FFFFFF"/><script>' },
    { cornersDotColor: '#12345G' },
    { dotsType: 'hearts' },
    { cornersSquareType: 'constructor' },
    { cornersDotType: 'extra-rounded' },
  ])('%o', async (style) => {
    await expect(drawPng(exampleUrl, style as Style, 256)).rejects.toThrow(RangeError);
  });
});
