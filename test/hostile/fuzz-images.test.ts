import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { webp as flatWebp, layers } from '../../bench/hostile-images.ts';
import { BadImage, maxSidePx, type RasterHeader } from '../../src/logos/bytes.ts';
import { flattenSvg } from '../../src/logos/flatten-svg.ts';
import { readJpegHeader } from '../../src/logos/jpeg-header.ts';
import { boundsOf, lengthOf, readPath, storedPath } from '../../src/logos/logo-path.ts';
import { readPngHeader } from '../../src/logos/png-header.ts';
import { readLogo } from '../../src/logos/read-logo.ts';
import { sanitizeSvg } from '../../src/logos/sanitize-svg.ts';
import { svgLimits } from '../../src/logos/svg-rules.ts';
import { readWebpHeader } from '../../src/logos/webp-header.ts';
import { chunk, jpeg, png, svg, webp, withExif } from '../logos/images.ts';
import { mutated, mutatedText } from '../support/mutate.ts';

/** The result, or undefined if it is refused as a bad image; every other error fails the test. */
function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadImage) return undefined;
    throw error;
  }
}

/** Pixels that one run decodes: what is larger is only decoded in the renderer. */
const maxDecodedPixels = 64 * 64;

function expectAllowed({ width, height, orientation }: RasterHeader): void {
  for (const side of [width, height]) {
    expect(side).toBeGreaterThanOrEqual(1);
    expect(side).toBeLessThanOrEqual(maxSidePx);
  }
  expect(orientation).toBeOneOf([1, 2, 3, 4, 5, 6, 7, 8]);
}

const signatureLength = 8;

/** Corrects all checksums, so that mutations are not refused for these. */
function withChecksums(file: Buffer): Buffer {
  const parts = [file.subarray(0, signatureLength)];
  for (let at = signatureLength; at + 12 <= file.length; ) {
    const length = Math.min(file.readUInt32BE(at), file.length - at - 12);
    parts.push(chunk(file.toString('latin1', at + 4, at + 8), file.subarray(at + 8, at + 8 + length)));
    at += 12 + length;
  }
  return Buffer.concat(parts);
}

/** Corrects the length in the header. */
function withLength(file: Buffer): Buffer {
  if (file.length >= 12) file.writeUInt32LE(file.length - 8, 4);
  return file;
}

describe('mutated images are read or refused', () => {
  const files = { png: [] as Buffer[], jpeg: [] as Buffer[], webp: [] as Buffer[] };
  beforeAll(async () => {
    const palette = chunk('PLTE', Buffer.from([1, 2, 3]));
    files.png = [png(), png({ interlaced: true, width: 9 }), png({ extra: [palette, chunk('tRNS', Buffer.alloc(1))] })];
    files.jpeg = [await jpeg(), withExif(await jpeg(), 6)];
    files.webp = [await webp(), flatWebp([{ width: 16, height: 8 }])];
  });

  const formats = {
    png: { read: readPngHeader, repair: withChecksums },
    jpeg: { read: readJpegHeader, repair: (file: Buffer) => file },
    webp: { read: readWebpHeader, repair: withLength },
  };
  const names = Object.keys(formats) as (keyof typeof formats)[];

  test.each(names)('the header of a %s', (name) => {
    const { read, repair } = formats[name];
    fc.assert(
      fc.property(mutated(files[name]), fc.boolean(), (bytes, isRepaired) => {
        const header = unlessRefused(() => read(isRepaired ? repair(bytes) : bytes));
        if (header !== undefined) expectAllowed(header);
      }),
      { numRuns: 1_500 },
    );
  });

  test.each(names)('the pixels of a %s, as many as its header has', async (name) => {
    const { read, repair } = formats[name];
    await fc.assert(
      fc.asyncProperty(mutated(files[name], 2), async (bytes) => {
        const file = repair(bytes);
        const header = unlessRefused(() => read(file));
        if (header === undefined || header.width * header.height > maxDecodedPixels) return;
        const logo = await readLogo(file).catch((error) => {
          if (!(error instanceof BadImage)) throw error;
        });
        if (logo === undefined) return;
        expect([logo.width, logo.height].sort()).toEqual([header.width, header.height].sort());
        expect(logo.art.kind).toBe('raster');
      }),
      { numRuns: 150 },
    );
  });

  test('the beginning of any file', async () => {
    const starts = ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff', 'RIFF\x20\0\0\0WEBP', '<svg', '\xef\xbb\xbf<', ''];
    const any = fc
      .tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 80 }))
      .map(([start, rest]) => Buffer.concat([Buffer.from(start, 'latin1'), rest]));
    await fc.assert(
      fc.asyncProperty(any, async (bytes) => {
        await readLogo(bytes).catch((error) => expect(error).toBeInstanceOf(BadImage));
      }),
      { numRuns: 300 },
    );
  });
});

const drawings = [
  svg(`<style>.a{fill:red;filter:none}</style><defs><linearGradient id="g"><stop stop-color="#00f"/><stop offset="1"/></linearGradient>
    <clipPath id="c"><circle r="20"/></clipPath></defs><g transform="translate(10 0)" clip-path="url('#c')">
    <rect class="a" width="10" height="10"/></g><use href="#o" x="20"/><circle id="o" r="5" fill="url(#g)" stroke="#123456"/>`),
  svg('<path d="M0 0h10v10c1 2 3 4 5 6q1 1 2 2t3 3a5 5 0 0 1 9 9z" stroke="red" stroke-dasharray="4 2" opacity=".5"/>'),
  Buffer.from('<?xml version="1.0"?><!DOCTYPE svg><!-- a --><svg><title>&lt;&#65;</title><![CDATA[x]]></svg>'),
  layers(3),
].map((drawing) => drawing.toString());

const words = [
  '<use href="#o"/>',
  'url(#c)',
  'url(',
  '&#x41;',
  ']]>',
  '<g>',
  '</g>',
  '1e9',
  '-',
  'NaN',
  ' id="o"',
  '"',
  '%',
];

/** A mutated drawing, or one with words of SVG where they do not belong. */
const drawing = fc.oneof(
  mutatedText(drawings, 3),
  fc
    .tuple(fc.constantFrom(...drawings), fc.array(fc.tuple(fc.nat(1_000), fc.constantFrom(...words)), { maxLength: 4 }))
    .map(([text, inserted]) => inserted.reduce((into, [at, word]) => into.slice(0, at) + word + into.slice(at), text)),
);

describe('mutated drawings are read or refused', () => {
  test('what is left of an SVG has nothing that runs or loads, and is accepted again', () => {
    fc.assert(
      fc.property(drawing, (text) => {
        const clean = unlessRefused(() => sanitizeSvg(text));
        if (clean === undefined) return;
        expect(clean).not.toMatch(/<script|<image|<foreignObject|\son\w+=|href="[^#]|url\((?!#)/i);
        expect(sanitizeSvg(clean), 'nothing of it is refused').toContain('<svg');
      }),
      { numRuns: 1_500 },
    );
  });

  test('its paths are within the limits of a stored image', async () => {
    await fc.assert(
      fc.asyncProperty(drawing, async (text) => {
        const logo = await readLogo(Buffer.from(text)).catch((error) => {
          if (!(error instanceof BadImage)) throw error;
        });
        if (logo === undefined || logo.art.kind !== 'vector') return;
        const { paths, width, height } = logo.art;
        expect(Math.max(width, height)).toBeLessThanOrEqual(1_000.01);
        expect(paths.length).toBeLessThanOrEqual(svgLimits.maxPaths + 1);
        expect(paths.reduce((sum, { d }) => sum + d.length, 0)).toBeLessThanOrEqual(svgLimits.maxPathCharacters);
        expect(JSON.stringify(paths), 'a number that JSON does not have').not.toContain('null');
      }),
      { numRuns: 300 },
    );
  });

  const simplified = [
    '<svg viewBox="0 0 10 10"><defs><clipPath id="c"><path d="M 0 0 L 9 9 Z"/></clipPath><radialGradient id="g" cx="1" cy="1" r="2"><stop offset="0" stop-color="#ff0000"/></radialGradient></defs><g clip-path="url(#c)" opacity="0.5" transform="matrix(1 0 0 1 2 3)"><path d="M 1 1 L 5 5 C 1 2 3 4 5 6 Q 1 2 3 4 Z" fill="url(#g)" stroke="#00ff00" stroke-width="2" stroke-dasharray="1 2"/></g></svg>',
  ];
  test('what resvg writes, in any other form', () => {
    fc.assert(
      fc.property(mutatedText(simplified), (text) => {
        const art = unlessRefused(() => flattenSvg(text));
        if (art !== undefined) expect(JSON.stringify(art)).not.toContain('null');
      }),
      { numRuns: 2_000 },
    );
  });

  test('a gradient without a finite radius is refused', () => {
    const [text = ''] = simplified;
    expect(() => flattenSvg(text.replace('r="2"', 'r="e"'))).toThrow(
      new BadImage('has a gradient that cannot be used'),
    );
  });

  test('path data, whose points are finite', () => {
    const paths = ['M 1 1 L 5 5 C 1 2 3 4 5 6 Q 1 2 3 4 Z', 'M 1e-3 -1e5 L -.5,.5Z', 'M0 0'];
    fc.assert(
      fc.property(mutatedText(paths), (text) => {
        const path = unlessRefused(() => readPath(text));
        if (path === undefined) return;
        expect(path.length).toBeLessThanOrEqual(text.length);
        for (const { kind, ...numbers } of path) expect(Object.values(numbers).every(Number.isFinite), kind).toBe(true);
        const { width, height } = boundsOf(path);
        expect([width >= 0, height >= 0, lengthOf(path) >= 0]).toEqual([true, true, true]);
        unlessRefused(() => storedPath(path));
      }),
      { numRuns: 2_000 },
    );
  });
});
