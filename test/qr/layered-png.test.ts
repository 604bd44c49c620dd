import { Resvg } from '@resvg/resvg-js';
import { describe, expect, test } from 'vitest';
import type { Style } from '../../events/style.ts';
import { frameTypes, logoShapes } from '../../events/style-shapes.ts';
import { drawQrImage, type ImageFormat } from '../../src/qr/image.ts';
import type { LogoArt } from '../../src/qr/logo-art.ts';
import { drawPng } from '../../src/qr/png.ts';
import { encodePixels } from '../../src/qr/png-file.ts';
import { exampleUrl, scan } from './support.ts';

// Ids of this file alone: what is drawn of a logo is cached by its id.
const vectorId = `logo_${'LayeredVector'.padEnd(22, '0')}`;
const rasterId = `logo_${'LayeredRaster'.padEnd(22, '0')}`;
// Small enough to be enlarged in every image: reduced logos are averaged, which renderers of the SVG do not do.
const side = 16;
const rgba = new Uint8Array(side * side * 4).map((_, i) => (i % 4 === 3 ? 255 - ((i >> 2) % side) * 15 : i % 251));
const logos: Record<string, LogoArt> = {
  [vectorId]: {
    kind: 'vector',
    width: 120,
    height: 80,
    paths: [
      { d: 'M 0 0 L 120 0 L 60 80 Z', fill: '#D00000' },
      { d: 'M 10 10 L 90 70', stroke: { color: '#0000FF', width: 6 }, opacity: 0.5 },
    ],
  },
  [rasterId]: {
    kind: 'raster',
    width: side,
    height: side,
    png: await encodePixels({ width: side, height: side, rgba }),
  },
};

const colorStops = [
  { offset: 0.1, color: '#0B5D45' },
  { offset: 0.5, color: '#7A1F4B' },
  { offset: 1, color: '#102080' },
];
const paleStops = [
  { offset: 0, color: '#FFFFFF' },
  { offset: 1, color: '#FFE0B0' },
];

const draw = (style: Style, size: number, format: ImageFormat = 'png', dpi?: number) =>
  drawQrImage({ url: exampleUrl, style, format, size, dpi, logo: style.logo && logos[style.logo.id] });

/** Pixels with alpha multiplied into the colors. */
function pixelsOf(svg: string) {
  const { width, height, pixels } = new Resvg(svg, { font: { loadSystemFonts: false } }).render();
  return { width, height, pixels };
}

function decoded(png: Uint8Array) {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const size = `width="${view.getUint32(16)}" height="${view.getUint32(20)}"`;
  const data = Buffer.from(png).toString('base64');
  return pixelsOf(
    `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image ${size} image-rendering="optimizeSpeed" href="data:image/png;base64,${data}"/></svg>`,
  );
}

/** Compares the PNG with the SVG of the same image; renderers anti-alias with different precision. */
async function expectSameImage(style: Style, size: number) {
  const one = decoded(await draw(style, size));
  const other = pixelsOf(new TextDecoder().decode(await draw(style, size, 'svg')));
  expect([one.width, one.height]).toEqual([other.width, other.height]);
  let [largest, sum] = [0, 0];
  for (let i = 0; i < one.pixels.length; i++) {
    const difference = Math.abs((one.pixels[i] as number) - (other.pixels[i] as number));
    largest = Math.max(largest, difference);
    sum += difference;
  }
  // With gradients or transparency the PNG is drawn by its SVG; dividing by alpha rounds.
  const isFromSvg = style.dotsGradient ?? style.backgroundGradient ?? style.backgroundColor === 'transparent';
  expect(largest).toBeLessThanOrEqual(isFromSvg ? 1 : 40);
  expect(sum / one.pixels.length).toBeLessThanOrEqual(isFromSvg ? 0.1 : 0.8);
}

describe('a PNG with more than a symbol is the same image as the SVG', () => {
  const frames = frameTypes.flatMap((type): [string, Style][] => [
    [`frame ${type}`, { frame: { type, color: '#9B2226' }, dotsType: 'extra-rounded', cornersSquareType: 'dot' }],
    [`frame ${type} with text, transparent`, { frame: { type, text: 'Menu' }, backgroundColor: 'transparent' }],
  ]);
  const withLogo = logoShapes.map((shape): [string, Style] => [
    `vector logo, shape ${shape}`,
    { logo: { id: vectorId, size: 0.3, shape, background: '#FFE0E0' }, dotsType: 'rounded' },
  ]);
  const others: [string, Style][] = [
    ['translucent raster logo', { logo: { id: rasterId, size: 0.3, shape: 'none' }, backgroundColor: 'transparent' }],
    ['no quiet zone, with a frame', { quietZone: 0, frame: { type: 'box' }, dotsType: 'classy' }],
    ['no quiet zone, with a logo', { quietZone: 0, logo: { id: vectorId } }],
    ['transparent', { backgroundColor: 'transparent', dotsType: 'dots', cornersDotType: 'dot' }],
    ['linear gradient', { dotsGradient: { type: 'linear', rotation: 0.8, colorStops }, dotsType: 'classy-rounded' }],
    ['gradient of the dots only', { dotsGradient: { type: 'radial', colorStops }, cornersSquareColor: '#112233' }],
    [
      'gradient on a gradient, with a frame and a logo',
      {
        dotsGradient: { type: 'radial', colorStops },
        backgroundGradient: { type: 'linear', rotation: 2, colorStops: paleStops },
        dotsType: 'dots',
        frame: { type: 'label-top' },
        logo: { id: vectorId },
      },
    ],
    [
      'gradient on transparent',
      { dotsGradient: { type: 'radial', colorStops }, backgroundColor: 'transparent', dotsType: 'dots' },
    ],
  ];
  test.each([...frames, ...withLogo, ...others])('%s', async (_, style) => {
    for (const size of [128, 301]) await expectSameImage(style, size);
  });

  test('at the smallest size', () => expectSameImage({ frame: { type: 'box' }, dotsType: 'dots' }, 64));
});

const framed: Style = {
  dotsType: 'dots',
  backgroundColor: 'transparent',
  logo: { id: rasterId },
  frame: { type: 'label-bottom', text: 'Scan me' },
};

test('another code with the same logo and frame gets them, and its own symbol', async () => {
  const style: Style = { ...framed, backgroundColor: '#FFFFFF' };
  const image = { style, format: 'png', size: 300, logo: logos[rasterId] } as const;
  for (const url of [exampleUrl, exampleUrl.replace('aB3', 'Zz9'), exampleUrl])
    expect(await scan(await drawQrImage({ ...image, url }))).toEqual([url]);
  expect(await draw(style, 300)).toEqual(await draw(style, 300));
});

test('two logos, two frames and two sizes of one code are different images', async () => {
  const styles: Style[] = [framed, { ...framed, logo: { id: vectorId } }, { ...framed, frame: { type: 'box' } }];
  const images = await Promise.all(styles.flatMap((style) => [draw(style, 200), draw(style, 201)]));
  expect(new Set(images.map((png) => Buffer.from(png).toString('base64'))).size).toBe(6);
  // Without the font there is no text, which must not be cached as if there were.
  const withoutFont = await drawPng(exampleUrl, framed, 200, { logo: logos[rasterId] });
  expect(withoutFont).not.toEqual(images[0]);
});

test('records its resolution', async () => {
  const png = await draw(framed, 200, 'png', 300);
  expect(Buffer.from(png).subarray(37, 50).toString('latin1')).toContain('pHYs');
  expect(decoded(png).pixels).toEqual(decoded(await draw(framed, 200)).pixels);
});

test('is drawn up to 4,096 px', async () => {
  const png = await draw({ ...framed, backgroundColor: '#FFFFFF' }, 4096);
  expect(new DataView(png.buffer).getUint32(16)).toBe(4096);
});
