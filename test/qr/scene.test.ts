import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Gradient, Style } from '../../events/style.ts';
import { damageOf } from '../../src/qr/codewords.ts';
import { gradientFill } from '../../src/qr/fill.ts';
import frameFont from '../../src/qr/frame-font.json' with { type: 'json' };
import { drawQrImage, etagOf, type QrImage } from '../../src/qr/image.ts';
import type { VectorLogo } from '../../src/qr/logo-art.ts';
import { matrixOf } from '../../src/qr/matrix.ts';
import type { CurveSegment } from '../../src/qr/path.ts';
import { writePathData } from '../../src/qr/path-data.ts';
import { LogoTooLarge, symbolOf } from '../../src/qr/placed-logo.ts';
import { sceneOf } from '../../src/qr/scene.ts';
import { lookOf } from '../../src/qr/style.ts';
import { drawSvg } from '../../src/qr/svg.ts';
import { textPath } from '../../src/qr/text.ts';
import { allShapes, assertWellFormed, exampleUrl, scan } from './support.ts';

const id = `logo_${'0'.repeat(22)}`;
const logo: VectorLogo = {
  kind: 'vector',
  width: 100,
  height: 100,
  paths: [
    { d: 'M 0 0 L 100 0 L 100 100 L 0 100 Z', fill: '#D00000', clips: [{ d: 'M 0 0 L 100 0 L 50 100 Z' }] },
    { d: 'M 10 10 L 90 90', stroke: { color: '#0000FF', width: 4, cap: 'round' }, opacity: 0.5 },
  ],
};
const stops = [
  { offset: 0, color: '#0B5D45' },
  { offset: 1, color: '#7A1F4B' },
];
const linear: Gradient = { type: 'linear', rotation: Math.PI / 4, colorStops: stops };
const frame = { type: 'label-bottom', text: 'Scan me' } as const;

test('styles without logo, frame and gradients have the same SVG, byte for byte, as before there were scenes', () => {
  const hash = createHash('sha256');
  for (const shapes of allShapes) hash.update(drawSvg(exampleUrl, { ...shapes, dotsColor: '#14213d' }, 512));
  expect(hash.digest('hex')).toBe('65e6c4f42069ef269174a88705dcb5130d4102d8d97e741bf80ac42eff0a5c02');
});

describe('a scanner reads exactly the short URL', () => {
  const styles: [string, Style][] = [
    ['linear gradient', { dotsGradient: linear, dotsType: 'rounded' }],
    [
      'radial gradient on a gradient',
      {
        dotsGradient: { type: 'radial', colorStops: stops },
        backgroundGradient: {
          type: 'linear',
          colorStops: [
            { offset: 0, color: '#FFFFFF' },
            { offset: 1, color: '#FFE0B0' },
          ],
        },
      },
    ],
    ['logo', { logo: { id, size: 0.3 } }],
    ['logo in a circle', { logo: { id, size: 0.3, shape: 'circle', background: '#FFE0E0' }, dotsType: 'dots' }],
    ['logo without a plate', { logo: { id, size: 0.25, shape: 'none' } }],
    ['box', { frame: { type: 'box', text: 'Σκάναρε με' } }],
    ['label above', { frame: { type: 'label-top', text: 'Отсканируй меня' } }],
    ['label below, with a logo and a gradient', { frame, logo: { id }, dotsGradient: linear }],
    ['bubble', { frame: { type: 'bubble', color: '#9B2226' } }],
    ['quiet zone of 10', { quietZone: 10 }],
    ['error correction H', { errorCorrection: 'H' }],
  ];
  test.each(styles)('%s', async (_, style) => {
    const image = { url: exampleUrl, style, size: 512, logo: style.logo && logo };
    expect(await scan(await drawQrImage({ ...image, format: 'png' }))).toEqual([exampleUrl]);
    const svg = new TextDecoder().decode(await drawQrImage({ ...image, format: 'svg' }));
    assertWellFormed(svg);
    expect(svg).not.toMatch(/<script|<style|<use|<foreignObject|<text|\son\w+=|<!|href="(?!data:image\/png;base64,)/i);
  });
});

describe('a logo', () => {
  const look = (style: Style) => lookOf({ ...style, logo: { id, ...style.logo } });

  test('leaves out the modules that it covers, and no others', () => {
    const { matrix, placed } = symbolOf(exampleUrl, look({ logo: { id, size: 0.25, margin: 1 } }), logo);
    const center = Math.floor(matrix.side / 2);
    expect(placed?.isLeftOut(center, center)).toBe(true);
    const half = (0.25 * matrix.side) / 2 + 1;
    expect(placed?.isLeftOut(Math.floor(matrix.side / 2 - half), center)).toBe(true);
    expect(placed?.isLeftOut(Math.floor(matrix.side / 2 - half) - 1, center)).toBe(false);
    const [dots] = sceneOf(exampleUrl, { logo: { id, size: 0.25 } }, { logo }).shapes;
    expect(dots?.kind === 'path' && writePathData(dots.path)).not.toContain(`M${center} ${center}`);
  });

  test('raises error correction to what it needs, and not further', () => {
    const levelFor = (size: number, margin: number) =>
      symbolOf(exampleUrl, look({ errorCorrection: 'L', logo: { id, size, margin } }), logo).matrix.level;
    expect(levelFor(0.1, 0)).toBe('L');
    expect(levelFor(0.3, 1)).toBe('H');
    expect(symbolOf(exampleUrl, look({ logo: { id, size: 0.1 } }), logo).matrix.level).toBe('H');
  });

  test('that hides more than can be corrected is refused', () => {
    expect(() => symbolOf(exampleUrl, look({ logo: { id, size: 0.3, margin: 3 } }), logo)).toThrow(LogoTooLarge);
  });

  test.each([14, 20, 32, 60, 100, 180])(
    'of every size with its default margin fits a short URL of %i bytes',
    (bytes) => {
      const url = 'https://a.io/'.padEnd(bytes, 'x');
      for (const size of [0.1, 0.2, 0.25, 0.3]) {
        const { matrix, placed } = symbolOf(url, look({ logo: { id, size } }), logo);
        expect(placed && damageOf(matrix, placed.isLeftOut)).toBeLessThanOrEqual(1);
      }
    },
  );

  test('of which nothing is left out does no damage; a whole symbol cannot be corrected', () => {
    const matrix = matrixOf(exampleUrl, 0, 'H');
    expect(damageOf(matrix, () => false)).toBe(0);
    expect(damageOf(matrix, () => true)).toBeGreaterThan(2);
    // One module damages one of the codewords of a block, of which at least 6 can be corrected.
    expect(damageOf(matrix, (x, y) => x === 20 && y === 20)).toBeLessThan(0.2);
  });
});

describe('a gradient', () => {
  const area = { x: 0, y: 0, width: 10, height: 10 };
  test.each([
    [0, [0, 5, 10, 5]],
    [Math.PI / 2, [5, 0, 5, 10]],
    [Math.PI, [10, 5, 0, 5]],
    [Math.PI / 4, [0, 0, 10, 10]],
    [-Math.PI / 2, [5, 10, 5, 0]],
  ])('is rotated by %f as qr-code-styling does', (rotation, [x1, y1, x2, y2]) => {
    expect(gradientFill({ ...linear, rotation }, area)).toMatchObject({ x1, y1, x2, y2 });
  });

  test('also fills corners without a color of their own', () => {
    const fills = (style: Style) =>
      sceneOf(exampleUrl, { dotsGradient: linear, ...style }).shapes.map(
        (shape) => 'fill' in shape && typeof shape.fill,
      );
    expect(fills({})).toEqual(['object', 'object', 'object']);
    expect(fills({ cornersDotColor: '#112233' })).toEqual(['object', 'object', 'string']);
    expect(fills({ cornersSquareColor: '#112233' })).toEqual(['object', 'string', 'string']);
  });
});

describe('the text of a frame', () => {
  const area = { x: 0, y: 0, width: 30, height: 6 };
  const extent = (path: readonly CurveSegment[]) => {
    const starts = path.filter((segment) => segment.kind === 'move').map(({ x }) => x);
    return { from: Math.min(...starts), to: Math.max(...starts) };
  };

  test.each(['Hi', 'W'.repeat(40), 'a few words that need two lines', 'Ελληνικά', 'Їжак'])(
    '%s stays inside',
    (text) => {
      const { from, to } = extent(textPath(text, area, 3, frameFont));
      expect(from).toBeGreaterThanOrEqual(0);
      expect(to).toBeLessThanOrEqual(30);
    },
  );

  test('a character that the font lacks, also one of Object, is a box', () => {
    for (const text of ['☃', '漢'])
      expect(writePathData(textPath(text, area, 3, frameFont))).toMatch(/^M[^a-z]*v-[\d.]+h[\d.]+v[\d.]+zM/);
    expect(textPath('constructor', area, 3, frameFont).length).toBeGreaterThan(100);
  });
});

test('the ETag changes with every added field, and stays the ETag of an image without them', () => {
  const base: QrImage = { url: exampleUrl, style: {}, format: 'png', size: 512 };
  const styles: Style[] = [
    {},
    { dotsGradient: linear },
    { dotsGradient: { ...linear, rotation: 1 } },
    { dotsGradient: linear, cornersSquareColor: '#000000' },
    { backgroundGradient: linear },
    { backgroundColor: 'transparent' },
    { logo: { id } },
    { logo: { id: `${id}1` } },
    { logo: { id, size: 0.3 } },
    { logo: { id, shape: 'circle' } },
    { frame },
    { frame: { ...frame, text: 'Menu' } },
    { quietZone: 2 },
    { errorCorrection: 'H' },
  ];
  expect(new Set(styles.map((style) => etagOf({ ...base, style }))).size).toBe(styles.length);
  const defaults: Style = { quietZone: 4, errorCorrection: 'M', frame: { type: 'none' } };
  expect(etagOf({ ...base, style: defaults })).toBe(etagOf(base));
  expect(etagOf(base)).toBe('"brlPH-ugSC2M4ntFLYMIfec5r5c"');
});
