import { inflateSync } from 'node:zlib';
import { Resvg } from '@resvg/resvg-js';
import { describe, expect, test } from 'vitest';
import { loadDecoders } from '../../../src/proof/decoders.ts';
import { drawQrImage, type QrImage } from '../../../src/qr/image.ts';
import { exampleUrl, scan } from '../support.ts';
import { printStyles, rasterizePdf } from './support.ts';

const draw = (image: Partial<QrImage>) => drawQrImage({ url: exampleUrl, style: {}, format: 'pdf', size: 0, ...image });
const latin = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

/** The streams of a PDF file, decompressed. */
const streamsOf = (pdf: Uint8Array) =>
  [...latin(pdf).matchAll(/\/Length (\d+)>>\nstream\n/g)].map(({ 1: length, 0: head, index }) => {
    const start = index + head.length;
    return latin(inflateSync(pdf.subarray(start, start + Number(length))));
  });

describe('a PDF file', () => {
  test.each(printStyles)('%s: is read at every printed size, rasterized at 300 dpi', async (_, style, logo) => {
    const [zxing] = await loadDecoders();
    for (const widthMm of [10, 15, 20, 30])
      for (const color of ['rgb', 'cmyk'] as const) {
        const [page] = await rasterizePdf(await draw({ style, logo, print: { widthMm, color } }), 300);
        expect(page && (await zxing.read(page)), `${widthMm} mm, ${color}`).toBe(exampleUrl);
      }
  });

  test('has one page of exactly the width, without bleed', async () => {
    const pdf = latin(await draw({ print: { widthMm: 25.4, color: 'rgb' } }));
    expect(pdf.match(/\/(Media|Trim)Box\[[^\]]*\]/g)).toEqual(['/MediaBox[0 0 72 72]', '/TrimBox[0 0 72 72]']);
    expect(pdf).toContain('/Count 1');
  });

  test('has a table with the position of every object', async () => {
    const pdf = latin(await draw({ print: { widthMm: 50, color: 'rgb' } }));
    const start = Number(/startxref\n(\d+)/.exec(pdf)?.[1]);
    expect(pdf.slice(start, start + 4)).toBe('xref');
    const positions = [...pdf.slice(start).matchAll(/^(\d{10}) 00000 n/gm)].map(([, position]) => Number(position));
    expect(positions.length).toBeGreaterThan(3);
    for (const [i, position] of positions.entries()) expect(pdf.slice(position)).toMatch(new RegExp(`^${i + 1} 0 obj`));
  });

  test('is the same every time, and names neither the code nor a date', async () => {
    const [, style, logo] = printStyles[3] ?? [];
    const print = { widthMm: 50, color: 'rgb' } as const;
    const pdf = await draw({ style: style ?? {}, logo, print });
    expect(await draw({ style: style ?? {}, logo, print })).toEqual(pdf);
    expect(latin(pdf)).toMatch(/\/Title\(QR code for https:\/\/scan\.example\.com\/aB3xY7z\)\/Creator\(Scanlog\)>>/);
    expect(latin(pdf)).not.toContain('Date');
  });

  test('in CMYK has no RGB, and black is black ink alone', async () => {
    for (const [, style, logo] of printStyles) {
      const pdf = await draw({ style, logo, print: { widthMm: 50, color: 'cmyk' } });
      expect(streamsOf(pdf).join('\n')).not.toMatch(/ (rg|RG)\n/);
      expect(latin(pdf)).not.toContain('DeviceRGB');
    }
    const [content] = streamsOf(await draw({ print: { widthMm: 50, color: 'cmyk' } }));
    expect(content).toContain('0 0 0 1 k');
  });

  test('fills no background that is transparent, and has gradients as shadings', async () => {
    const [content = ''] = streamsOf(await draw({ style: { backgroundColor: 'transparent' } }));
    expect(content.match(/ rg$/gm)).toHaveLength(3);
    const gradients = latin(await draw({ style: printStyles[2]?.[1] ?? {} }));
    expect(gradients).toContain('/ShadingType 2');
    expect(gradients).toContain('/ShadingType 3');
    expect(gradients).toContain('/FunctionType 3');
  });
});

/** The outlines of an EPS file as SVG; solid fills only. */
function svgOfEps(eps: string): string {
  const [, a, d, e, f] = /\[(\S+) 0 0 (\S+) (\S+) (\S+)\] concat/.exec(eps) ?? [];
  const [, width, height] = /%%HiResBoundingBox: 0 0 (\S+) (\S+)/.exec(eps) ?? [];
  const fills = [...eps.matchAll(/^(\S+) (\S+) (\S+) setrgbcolor\n([\s\S]*?)\nf$/gm)].map(
    ([, r, g, b, outline = '']) => {
      const data = outline
        .split('\n')
        .map((line) =>
          line.replace(/^(.*?) ?([mlch])$/, (_, values, name) => `${name === 'h' ? 'z' : name.toUpperCase()}${values}`),
        );
      const color = [r, g, b].map((share) => Math.round(Number(share) * 255)).join();
      return `<path fill="rgb(${color})" d="${data.join('')}"/>`;
    },
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300" viewBox="0 0 ${width} ${height}"><g transform="matrix(1 0 0 -1 0 ${height})"><g transform="matrix(${a} 0 0 ${d} ${e} ${f})">${fills.join('')}</g></g></svg>`;
}

describe('an EPS file', () => {
  test('has the size, and outlines that are read', async () => {
    for (const style of [{}, { dotsType: 'dots', cornersSquareType: 'extra-rounded' }] as const) {
      const eps = latin(await draw({ style, format: 'eps', print: { widthMm: 25.4, color: 'rgb' } }));
      expect(eps).toMatch(/^%!PS-Adobe-3\.0 EPSF-3\.0\n%%BoundingBox: 0 0 72 72\n%%HiResBoundingBox: 0 0 72 72\n/);
      expect(await scan(new Resvg(svgOfEps(eps), { font: { loadSystemFonts: false } }).render().asPng())).toEqual([
        exampleUrl,
      ]);
    }
  });

  test.each(printStyles)(
    '%s: is the same every time, ASCII, and keeps gsave and grestore in balance',
    async (_, style, logo) => {
      const image = { style, logo, format: 'eps', print: { widthMm: 30, color: 'cmyk' } } as const;
      const eps = latin(await draw(image));
      expect(latin(await draw(image))).toBe(eps);
      expect(eps).toMatch(/^[\n\x20-\x7E]*$/);
      const count = (pattern: RegExp) => (eps.match(pattern) ?? []).length;
      expect(count(/^(q|.* q|q .*)$/gm)).toBe(count(/^(Q|> Q|Q end)$/gm));
      expect(eps).not.toContain('setrgbcolor');
    },
  );
});
