import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';
import { describe, expect, test } from 'vitest';
import { BadImage } from '../../src/logos/bytes.ts';
import { readLogo } from '../../src/logos/read-logo.ts';
import { writeVectorLogo } from '../../src/qr/svg.ts';
import { chunk, frameOf, jpeg, png, svg, webp, withExif } from './images.ts';

const pixelsOf = (bytes: Uint8Array, width: number, height: number) => {
  const data = Buffer.from(bytes).toString('base64');
  const image = `<image width="${width}" height="${height}" href="data:image/png;base64,${data}"/>`;
  const drawn = new Resvg(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${image}</svg>`,
    { font: { loadSystemFonts: false } },
  );
  const { pixels } = drawn.render();
  return (x: number, y: number) => [...pixels.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
};

async function raster(bytes: Buffer) {
  const { art, ...logo } = await readLogo(bytes);
  if (art.kind !== 'raster') throw new Error('not a raster');
  return { ...logo, art, at: pixelsOf(art.png, art.width, art.height) };
}

async function vector(bytes: Buffer) {
  const { art } = await readLogo(bytes);
  if (art.kind !== 'vector') throw new Error('not a vector');
  return art;
}

describe('an image', () => {
  test.each([
    ['PNG', () => png({ width: 16, height: 8 }), 'png'],
    ['interlaced PNG', () => png({ width: 16, height: 8, interlaced: true }), 'png'],
    ['JPEG', jpeg, 'jpeg'],
    ['WebP', webp, 'webp'],
  ])('%s becomes a PNG of the same pixels', async (_, make, format) => {
    const logo = await raster(await make());
    expect(logo).toMatchObject({ format, width: 16, height: 8 });
    const near = (color: number[]) => color.map((value) => Math.round(value / 60));
    expect(near(logo.at(14, 6))).toEqual(near([200, 0, 0, 255]));
    expect(near(logo.at(2, 1))).toEqual(near([0, 0, 200, 255]));
  });

  test('of WebP leaves no location behind, against which other libraries would resolve URLs', async () => {
    // Another test file may have run in this process.
    const before = 'location' in globalThis;
    await raster(await webp());
    expect('location' in globalThis).toBe(before);
  });

  test('keeps partial transparency', async () => {
    const logo = await raster(png({ color: [200, 100, 0, 128] }));
    // resvg multiplies alpha into the colors.
    expect(logo.at(6, 6)).toEqual([100, 50, 0, 128]);
  });

  test('loses its metadata, and is turned upright', async () => {
    const image = withExif(await jpeg(), 6);
    expect(image.includes('GPS')).toBe(true);
    const logo = await raster(image);
    expect(logo).toMatchObject({ width: 8, height: 16 });
    expect(Buffer.from(logo.art.png).includes('GPS')).toBe(false);
    // Orientation 6 is turned clockwise: the blue top left comes to the top right.
    expect(logo.at(6, 2)[2]).toBeGreaterThan(120);
    expect(logo.at(1, 2)[0]).toBeGreaterThan(120);
  });

  test('of 4,096 px is reduced to 1,024 px', async () => {
    const { width, height, art } = await raster(png({ width: 4096, height: 32 }));
    expect({ width, height, stored: [art.width, art.height] }).toEqual({ width: 4096, height: 32, stored: [1024, 8] });
  });
});

describe('an SVG', () => {
  test('becomes paths, with style sheets, transforms, gradients, clips and repeated parts resolved', async () => {
    const art = await vector(
      svg(`<style>.a{fill:red}</style><title>Logo</title>
        <defs><linearGradient id="g"><stop stop-color="#00f"/><stop offset="1" stop-color="#0f0" stop-opacity=".5"/></linearGradient>
        <clipPath id="c"><circle r="20"/></clipPath></defs>
        <g transform="translate(10 0)" clip-path="url('#c')"><rect class="a" width="10" height="10"/></g>
        <circle id="o" r="5" cx="50" cy="25" fill="url(#g)" stroke="#123456" stroke-width="2"/><use href="#o" x="20"/>`),
    );
    expect(art).toMatchObject({ width: 1000, height: 500 });
    const [rect, circle, line] = art.paths;
    expect(rect).toMatchObject({ d: 'M 100 0 L 200 0 L 200 100 L 100 100 Z', fill: '#FF0000' });
    expect(rect?.clips).toHaveLength(1);
    expect(circle?.fill).toMatchObject({
      type: 'linear',
      x1: 450,
      x2: 550,
      stops: [{ color: '#0000FF' }, { opacity: 0.5 }],
    });
    expect(line?.stroke).toEqual({ color: '#123456', width: 20 });
    expect(art.paths).toHaveLength(5);
  });

  test('looks the same after it', async () => {
    const source = svg(
      `<defs><radialGradient id="r" cx=".3" cy=".3" r=".8" gradientTransform="rotate(20)"><stop stop-color="#fff"/><stop offset="1" stop-color="#a00"/></radialGradient>
      <linearGradient id="l" gradientTransform="rotate(30) scale(1 .5)"><stop stop-color="#ff0"/><stop offset="1" stop-color="#00f"/></linearGradient></defs>
      <rect width="60" height="30" x="4" y="4" fill="url(#r)" transform="skewX(10)"/>
      <path d="M70 5h20l5 40h-25l10-20z" fill="url(#l)" fill-rule="evenodd" opacity=".8"/>
      <path d="M5 45h50" stroke="#050" stroke-width="3" stroke-dasharray="4 2" stroke-linecap="round" fill="none"/>`,
      'width="200" height="100"',
    );
    const draw = (text: string) =>
      new Resvg(text, { fitTo: { mode: 'width', value: 200 }, font: { loadSystemFonts: false } }).render().pixels;
    const [before, after] = [draw(source.toString()), draw(writeVectorLogo(await vector(source)))];
    const difference =
      before.reduce((sum, value, i) => sum + Math.abs(value - (after[i] as number)), 0) / before.length;
    expect(difference).toBeLessThan(0.5);
  });

  test('whose styles turn effects off is accepted', async () => {
    const art = await vector(svg('<rect style="fill: red; filter: none; mask:none" width="9" height="9"/>'));
    expect(art.paths).toHaveLength(1);
  });

  test('of Illustrator and Inkscape loses what others see in it', async () => {
    const art = await vector(
      Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-8"?><!-- Generator -->
        <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
        <svg xmlns="http://www.w3.org/2000/svg" xmlns:sodipodi="x" width="20" height="20"><metadata><rdf:RDF/></metadata>
        <sodipodi:namedview id="n"/><path data-name="secret" inkscape:label="x" d="M0 0h9v9z"/></svg>`),
    );
    expect(JSON.stringify(art)).not.toMatch(/secret|RDF|label/);
  });
});

const bomb = (levels: number) =>
  Array.from({ length: levels }, (_, i) => `<g id="b${i}">${`<use href="#b${i + 1}"/>`.repeat(10)}</g>`).join('') +
  `<rect id="b${levels}" width="1" height="1"/>`;
const unclosed = (name: string, count: number) => `<${name}>`.repeat(count) + `</${name}>`.repeat(count);

/** Each with what the refusal says. */
const hostile: [name: string, make: () => Buffer | Promise<Buffer>, message: RegExp][] = [
  ['nothing', () => Buffer.alloc(0), /is empty/],
  ['random bytes', () => Buffer.from('not an image at all'), /is not a PNG/],
  ['a GIF', () => Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'), /is not a PNG/],
  ['a BMP', () => Buffer.from('BM6\0\0\0', 'latin1'), /is not a PNG/],
  ['a PDF', () => Buffer.from('%PDF-1.7 <svg/>'), /is not a PNG/],
  ['HTML', () => Buffer.from('<!DOCTYPE html><html><script>alert(1)</script></html>'), /is not an SVG/],
  ['a PNG that claims 60,000 px', () => png({ claims: { width: 60_000, height: 60_000 } }), /60000 × 60000/],
  ['a PNG that claims 4,097 px', () => png({ claims: { width: 4097, height: 1 } }), /at most 4096/],
  ['a PNG without width', () => png({ claims: { width: 0, height: 8 } }), /no pixels/],
  ['a PNG with fewer rows than it claims', () => png({ claims: { width: 8, height: 4000 } }), /./],
  ['a PNG with a wrong checksum', () => Buffer.from(png().map((byte, i) => (i === 45 ? byte ^ 1 : byte))), /damaged/],
  ['a PNG that is cut off', () => png().subarray(0, -20), /cut off/],
  ['only a PNG signature', () => png().subarray(0, 8), /cut off/],
  ['a PNG without pixels', () => Buffer.concat([png().subarray(0, 33), chunk('IEND', Buffer.alloc(0))]), /no pixels/],
  ['a PNG and a ZIP', () => Buffer.concat([png(), Buffer.from('PK\x03\x04')]), /other data after its end/],
  ['a PNG and HTML', () => Buffer.concat([png(), Buffer.from('<script>alert(1)</script>')]), /other data after/],
  ['an animated PNG', () => png({ extra: [chunk('acTL', Buffer.alloc(8))] }), /animated/],
  ['a PNG of empty pixels', () => png({ color: [9, 9, 9, 0], corner: [0, 0, 0, 0] }), /transparent/],
  [
    'a PNG with 10,000 chunks',
    () => png({ extra: Array.from({ length: 10_000 }, () => chunk('tEXt', Buffer.alloc(0))) }),
    /too many/,
  ],
  ['a JPEG that is cut off', async () => (await jpeg()).subarray(0, -20), /cut off/],
  ['a JPEG and PHP', async () => Buffer.concat([await jpeg(), Buffer.from('<?php ?>')]), /other data after/],
  ['a CMYK JPEG', async () => patched(await jpeg(), (file) => file.writeUInt8(4, frameOf(file) + 9)), /CMYK/],
  ['a 12-bit JPEG', async () => patched(await jpeg(), (file) => file.writeUInt8(12, frameOf(file) + 4)), /8 bits/],
  [
    'a JPEG that claims 65,535 px',
    async () => patched(await jpeg(), (file) => file.writeUInt16BE(65_535, frameOf(file) + 5)),
    /at most 4096/,
  ],
  ['a JPEG of 2,000 scans', async () => scans(await jpeg(), 2_000), /scans/],
  ['only a JPEG start', () => Buffer.from([0xff, 0xd8, 0xff, 0xe0]), /cut off/],
  ['a WebP that is cut off', async () => (await webp()).subarray(0, -6), /cut off/],
  ['a WebP and more', async () => Buffer.concat([await webp(), Buffer.from('more')]), /other data after/],
  [
    'an animated WebP',
    () =>
      riff([
        ['VP8X', Buffer.from([2, 0, 0, 0, 7, 0, 0, 7, 0, 0])],
        ['ANIM', Buffer.alloc(6)],
      ]),
    /animated/,
  ],
  [
    'a WebP that claims 16,384 px',
    () => riff([['VP8L', Buffer.from([0x2f, 0xff, 0xff, 0xff, 0x0f, 0])]]),
    /at most 4096/,
  ],
  ['a WebP of wrong data', () => riff([['VP8L', Buffer.from([0x2f, 7, 0xc0, 1, 0, 1, 2, 3, 4, 5, 6])]]), /damaged/],
  ['a WebP without pixels', () => riff([['EXIF', Buffer.alloc(8)]]), /no pixels/],
  ['an SVG with a script', () => svg('<script>alert(1)</script>'), /script/],
  ['an SVG with an event handler', () => svg('<rect width="9" height="9"/>', 'onload="alert(1)"'), /script/],
  [
    'an SVG with foreignObject',
    () => svg('<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>'),
    /foreignObject/,
  ],
  ['an SVG with an embedded image', () => svg('<image href="data:image/png;base64,AA=="/>'), /embedded image/],
  [
    'an SVG with a remote image',
    () => svg('<image href="http://169.254.169.254/latest/meta-data"/>'),
    /embedded image/,
  ],
  ['an SVG that refers to a file', () => svg('<use href="file:///etc/passwd#x"/>'), /another file/],
  [
    'an SVG with a remote gradient',
    () => svg('<rect width="9" height="9" fill="url(https://evil.example/#g)"/>'),
    /another file/,
  ],
  ['an SVG with javascript:', () => svg('<use xlink:href="javascript:alert(1)"/>'), /another file/],
  ['an SVG with a link', () => svg('<a href="#x"><rect width="9" height="9"/></a>'), /link/],
  ['an SVG with @import', () => svg('<style>@import url(https://evil.example/a.css);</style>'), /style sheet/],
  ['an SVG with an escaped @import', () => svg('<style>\\40 import "x";</style>'), /style sheet/],
  [
    'an SVG with a remote url in a style',
    () => svg('<rect style="fill:url(//evil.example/#a)" width="9" height="9"/>'),
    /another file/,
  ],
  ['an SVG with text', () => svg('<text>Hello</text>'), /text/],
  ['an SVG with a filter', () => svg('<filter id="f"><feGaussianBlur stdDeviation="99999"/></filter>'), /filter/],
  ['an SVG with a filter in a style', () => svg('<rect style="filter:blur(9999px)" width="9" height="9"/>'), /filter/],
  ['an SVG with a mask', () => svg('<rect mask="url(#m)" width="9" height="9"/>'), /mask/],
  ['an animated SVG', () => svg('<rect width="9" height="9"><animate attributeName="x" to="9"/></rect>'), /animated/],
  ['an SVG with an iframe', () => svg('<iframe src="https://evil.example"/>'), /element iframe/],
  [
    'an SVG with entities',
    () => Buffer.from(`<!DOCTYPE svg [<!ENTITY a "${'x'.repeat(99)}">]>${svg('&a;&a;')}`),
    /declarations/,
  ],
  [
    'an SVG with an external entity',
    () => Buffer.from(`<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>${svg('&a;')}`),
    /declarations/,
  ],
  ['an SVG with an unknown entity', () => svg('<title>&nbsp;</title>'), /entity/],
  [
    'an SVG with a style sheet beside it',
    () => Buffer.from(`<?xml-stylesheet href="https://evil.example/a.css"?>${svg('')}`),
    /style sheet/,
  ],
  ['an SVG of a billion repetitions', () => svg(bomb(9)), /repeats/],
  ['an SVG that repeats itself', () => svg('<g id="a"><use href="#a"/></g>'), /repeats itself/],
  ['an SVG nested 100,000 deep', () => svg(unclosed('g', 100_000)), /nested|elements/],
  ['an SVG of 6,000 elements', () => svg('<path/>'.repeat(6_000)), /elements/],
  ['an SVG of a million dashes', () => svg('<path d="M0 0h100" stroke="red" stroke-dasharray=".0001"/>'), /dashes/],
  ['an SVG far outside', () => svg('<path d="M0 0h1e30v1z"/>'), /./],
  ['an SVG of 100,000 px', () => svg('<rect width="9" height="9"/>', 'width="100000" height="100000"'), /at most 4096/],
  ['an SVG without shapes', () => svg(''), /./],
  ['an SVG without a size', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0"/>'), /./],
  ['an SVG that is cut off', () => svg('<rect width="9" height="9"/>').subarray(0, -8), /cut off|well-formed/],
  ['an SVG in UTF-16', () => Buffer.from(`\ufeff${svg('<rect/>')}`, 'utf16le'), /./],
  ['an SVG with a null byte', () => svg('<rect width="9\0" height="9"/>'), /./],
  ['other XML', () => Buffer.from('<?xml version="1.0"?><rss><svg/></rss>'), /is not an SVG/],
  [
    'a WebP with two images, of which decoders read the first',
    async () => {
      const frame = (await webp()).subarray(12);
      const length = frame.readUInt32LE(4);
      const image: [string, Buffer] = [frame.toString('latin1', 0, 4), frame.subarray(8, 8 + length)];
      return riff([image, image]);
    },
    /more than one image/,
  ],
  [
    'an SVG that repeats one long path 600 times',
    () => svg(`<defs><path id="p" d="${longPath(900_000)}"/></defs>${'<use href="#p"/>'.repeat(600)}`),
    /with repeated parts, more than 1048576 characters/,
  ],
  [
    'an SVG with a detailed clip for 800 paths',
    () => {
      const bars = Array.from({ length: 800 }, (_, i) => `<path d="M${i % 90} 0h3v99z"/>`).join('');
      const clip = `<defs><clipPath id="c"><path d="${longPath(300_000)}"/></clipPath></defs>`;
      return svg(`${clip}<g clip-path="url(#c)">${bars}</g>`);
    },
    /clip paths that are too detailed/,
  ],
  [
    'an SVG with 1,600 translucent layers',
    () => svg('<g opacity=".9"><path d="M0 0H100V100H0z" fill="#f00"/></g>'.repeat(1_600)),
    /more than 250 times over/,
  ],
  [
    'an SVG with a gradient of many colors for many paths',
    () => {
      const stops = Array.from({ length: 900 }, (_, i) => `<stop offset="${i / 900}" stop-color="#f00"/>`).join('');
      const paths = '<path d="M0 0h1v1z" fill="url(#g)"/>'.repeat(900);
      return svg(`<defs><linearGradient id="g">${stops}</linearGradient></defs>${paths}`);
    },
    /too detailed/,
  ],
];

function patched(file: Buffer, change: (file: Buffer) => unknown): Buffer {
  change(file);
  return file;
}

function scans(file: Buffer, count: number): Buffer {
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0, 1, 2]);
  return Buffer.concat([file.subarray(0, -2), ...Array.from({ length: count }, () => scan), file.subarray(-2)]);
}

function riff(chunks: [type: string, data: Buffer][]): Buffer {
  const body = Buffer.concat(
    chunks.map(([type, data]) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(data.length);
      return Buffer.concat([Buffer.from(type), length, data, Buffer.alloc(data.length % 2)]);
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length + 4);
  return Buffer.concat([Buffer.from('RIFF'), length, Buffer.from('WEBP'), body]);
}

function longPath(length: number): string {
  const steps: string[] = ['M0 0'];
  for (let i = 0, characters = 4; characters < length; i++) {
    const step = `L${(i * 7) % 97} ${(i * 13) % 89}`;
    steps.push(step);
    characters += step.length;
  }
  return steps.join('');
}

describe('hostile uploads are refused', () => {
  test.each(hostile)('%s', async (_, make, message) => {
    const refused = await readLogo(await make()).catch((error) => error);
    expect(refused).toBeInstanceOf(BadImage);
    expect(refused.message).toMatch(message);
  });

  test('a small file that unpacks to far more than its pixels costs only its pixels', async () => {
    const script = fileURLToPath(new URL('./read-bomb.ts', import.meta.url));
    const { stdout } = Bun.spawnSync([process.execPath, script]);
    expect(Number(stdout.toString())).toBeLessThan(150 * 1024 * 1024);
    expect(stdout.toString()).not.toBe('');
  });
});
