import { Resvg } from '@resvg/resvg-js';
import { describe, expect, test } from 'vitest';
import { segmentsOf } from '../../../src/qr/vector/path.ts';

const viewBox = '-10 -10 40 40';
const pixelsOf = (data: string) =>
  new Resvg(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}" width="120" height="120"><path d="${data}"/></svg>`,
    { font: { loadSystemFonts: false } },
  ).render().pixels;

/** The path with nothing but absolute moves, lines and cubic curves. */
const plain = (data: string) =>
  segmentsOf(data)
    .map((segment) => {
      switch (segment.kind) {
        case 'move':
          return `M${segment.x} ${segment.y}`;
        case 'line':
          return `L${segment.x} ${segment.y}`;
        case 'curve':
          return `C${segment.x1} ${segment.y1} ${segment.x2} ${segment.y2} ${segment.x} ${segment.y}`;
        default:
          return 'Z';
      }
    })
    .join('');

describe('path data as moves, lines and cubic curves', () => {
  test.each([
    ['relative and absolute lines', 'M0 0h10v10l-5 5H0V3z'],
    ['lines after a move, without a letter', 'M0 0 10 0 10 10m2 2 3 0 0 3z'],
    ['circles of two arcs', 'M0 5a5 5 0 1 1 10 0a5 5 0 1 1-10 0z'],
    ['one arc from several points', 'M0 0a5 5 0 0 1 5 5zM9 1a5 5 0 0 1 5 5zm3 9a5 5 0 0 1 5 5z'],
    ['arcs in both directions, flags without separators', 'M0 0a10 4 30 0015 5A8 8 0 110 0z'],
    ['arcs that are too small for their ends', 'M0 0a1 2 45 0 1 20 10z'],
    ['cubic and smooth curves', 'M0 0C0 8 8 8 8 0s8-8 8 0S20 20 0 20z'],
    ['quadratic and smooth curves', 'M0 0Q5 10 10 0t10 0T0 20z'],
    ['several outlines; a relative move starts where the last one started', 'M0 0h8v8h-8zm2 2v4h4v-4z'],
    ['numbers without separators and with exponents', 'M.5.5l1e1-.5.5 10z'],
  ])('%s', (_, data) => {
    const [expected, drawn] = [pixelsOf(data), pixelsOf(plain(data))];
    const differences = expected.reduce(
      (count, value, i) => count + (Math.abs(value - (drawn[i] ?? 0)) > 64 ? 1 : 0),
      0,
    );
    expect(expected.some((value) => value > 0)).toBe(true);
    expect(differences).toBe(0);
  });

  test('numbers have the value that JavaScript gives them', () => {
    const texts = '0 .1 -.30000000000000004 5. 0.1234567890123456789 123456789012345678 +7.25 1e-7 4E2 .7'.split(' ');
    const lines = segmentsOf(`M0 0${texts.map((text) => `L${text} 1`).join('')}`).slice(1);
    expect(lines.map((line) => 'x' in line && line.x)).toEqual(texts.map(Number));
  });

  test.each(['L', 'M0', 'M0 0 x', 'M0 0z5', 'M0 0a1 1 0 2 0 1 1', '5 5'])('refuses %j', (data) => {
    expect(() => segmentsOf(data)).toThrow(RangeError);
  });
});
