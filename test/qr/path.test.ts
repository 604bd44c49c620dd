import { Resvg } from '@resvg/resvg-js';
import { describe, expect, test } from 'vitest';
import { cubicsOf, type Path } from '../../src/qr/path.ts';
import { parsePath, writePathData } from '../../src/qr/path-data.ts';

const viewBox = '-10 -10 40 40';
const pixelsOf = (data: string) =>
  new Resvg(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}" width="120" height="120"><path d="${data}"/></svg>`,
    { font: { loadSystemFonts: false } },
  ).render().pixels;

function expectSame(one: string, other: string): void {
  const [expected, drawn] = [pixelsOf(one), pixelsOf(other)];
  expect(expected.some((value) => value > 0)).toBe(true);
  expect(expected.filter((value, i) => Math.abs(value - (drawn[i] ?? 0)) > 64)).toHaveLength(0);
}

describe('path data', () => {
  test.each([
    ['relative and absolute lines', 'M0 0h10v10l-5 5H0V3z'],
    ['lines after a move, without a letter', 'M0 0 10 0 10 10m2 2 3 0 0 3z'],
    ['cubic curves', 'M0 0C0 8 8 8 8 0c0 8 8 8 8 0 4 0 4 20-16 20z'],
    ['quadratic curves', 'M0 0Q5 10 10 0q5-10 10 0Q20 20 0 20z'],
    ['several outlines; a relative move starts where the last one started', 'M0 0h8v8h-8zm2 2v4h4v-4z'],
    ['numbers without separators and with exponents', 'M.5.5l1e1-.5.5 10z'],
  ])('%s: read, written, and as cubic curves, it is the same image', (_, data) => {
    expectSame(data, writePathData(parsePath(data)));
    expectSame(data, writePathData(cubicsOf(parsePath(data))));
  });

  test('rounding of many short steps does not add up', () => {
    const steps = Array.from({ length: 3_000 }, (_, i) => ({ kind: 'line', x: (i + 1) / 3_000, y: 1 / 3 }) as const);
    const written = parsePath(writePathData([{ kind: 'move', x: 0, y: 1 / 3 }, ...steps])).at(-1);
    expect(written).toMatchObject({ x: expect.closeTo(1, 4), y: expect.closeTo(1 / 3, 4) });
  });

  test.each([
    'L',
    '5 5',
    'L1 1',
    'M0',
    'M0 0 x',
    'M0 0z5',
    'M0 0l1',
    'M0 0h',
    'M0 0a1 1 0 0 0 1 1',
    'M0 0L1;1',
    'M0 1e999',
  ])('refuses %j', (data) => {
    expect(() => parsePath(data)).toThrow(RangeError);
  });
});

describe('round segments', () => {
  const corner = (x1: number, y1: number, x: number, y: number) => ({ kind: 'corner', x1, y1, x, y }) as const;
  const line = (x: number, y: number) => ({ kind: 'line', x, y }) as const;
  const paths: [string, Path, string][] = [
    ['a circle', [{ kind: 'circle', x: 5, y: 5, radius: 5 }], 'M0 5a5 5 0 1 1 10 0a5 5 0 1 1-10 0z'],
    [
      'corners, clockwise',
      [
        { kind: 'move', x: 4, y: 0 },
        line(6, 0),
        corner(10, 0, 10, 4),
        line(10, 10),
        line(0, 10),
        line(0, 4),
        corner(0, 0, 4, 0),
      ],
      'M4 0h2a4 4 0 0 1 4 4v6h-10v-6a4 4 0 0 1 4-4',
    ],
    [
      'a corner, counterclockwise',
      [{ kind: 'move', x: 4, y: 0 }, corner(0, 0, 0, 4), line(9, 9), { kind: 'close' }],
      'M4 0a4 4 0 0 0 -4 4l9 5z',
    ],
  ];
  test.each(paths)('%s: as arcs, and as cubic curves, it is the same image', (_, path, data) => {
    expect(writePathData(path)).toBe(data);
    expectSame(data, writePathData(cubicsOf(path)));
  });
});
