import { writeFile } from 'node:fs/promises';
import { Resvg } from '@resvg/resvg-js';
import { cornersDotTypes, cornersSquareTypes, dotsTypes } from '../../events/style-shapes.ts';
import { drawSvg } from '../../src/qr/svg.ts';

// A whole number of pixels for each of the 37 modules, quiet zone included.
const imageSize = 37 * 7;
const gap = 24;
const labelHeight = 44;
const colors = { dotsColor: '#14213D', cornersSquareColor: '#9B2226', cornersDotColor: '#005F73' };

/** A PNG of all 36 combinations of shapes: a column for each `dotsType`, a row for each pair of corner types. */
export function contactSheet(): Uint8Array {
  const rows = cornersSquareTypes.flatMap((square) => cornersDotTypes.map((dot) => ({ square, dot })));
  const cells = rows.flatMap(({ square, dot }, row) =>
    dotsTypes.map((dots, column) => {
      const style = { ...colors, dotsType: dots, cornersSquareType: square, cornersDotType: dot };
      const image = drawSvg('https://scan.example.com/aB3xY7z', style, imageSize);
      const x = gap + column * (imageSize + gap);
      const y = gap + row * (imageSize + labelHeight + gap);
      return [
        image.replace('<svg ', `<svg x="${x}" y="${y}" `),
        text(dots, x, y + imageSize + 8),
        text(`${square} / ${dot}`, x, y + imageSize + 28),
      ].join('');
    }),
  );
  const width = gap + dotsTypes.length * (imageSize + gap);
  const height = gap + rows.length * (imageSize + labelHeight + gap);
  const sheet = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    `<rect width="${width}" height="${height}" fill="#E9ECEF"/>`,
    ...cells,
    '</svg>',
  ].join('');
  return new Resvg(sheet, { font: { loadSystemFonts: false } }).render().asPng();
}

// A bitmap font, because the machine may have no fonts: seven rows of five pixels, the highest bit is the leftmost.
const glyphs: Record<string, number[]> = {
  a: [0, 0, 14, 1, 15, 17, 15],
  c: [0, 0, 14, 17, 16, 17, 14],
  d: [1, 1, 15, 17, 17, 17, 15],
  e: [0, 0, 14, 17, 31, 16, 14],
  l: [12, 4, 4, 4, 4, 4, 14],
  n: [0, 0, 30, 17, 17, 17, 17],
  o: [0, 0, 14, 17, 17, 17, 14],
  q: [0, 0, 15, 17, 15, 1, 1],
  r: [0, 0, 22, 25, 16, 16, 16],
  s: [0, 0, 15, 16, 14, 1, 30],
  t: [8, 8, 28, 8, 8, 9, 6],
  u: [0, 0, 17, 17, 17, 19, 13],
  x: [0, 0, 17, 10, 4, 10, 17],
  y: [0, 0, 17, 17, 15, 1, 14],
  '-': [0, 0, 0, 14, 0, 0, 0],
  '/': [1, 1, 2, 4, 8, 16, 16],
  ' ': [0, 0, 0, 0, 0, 0, 0],
};

function text(letters: string, left: number, top: number): string {
  const scale = 2;
  const squares = [...letters].flatMap((letter, i) => {
    const glyph = glyphs[letter];
    if (!glyph) throw new RangeError(`no glyph for ${letter}`);
    return glyph.flatMap((bits, y) =>
      [0, 1, 2, 3, 4].filter((x) => bits & (16 >> x)).map((x) => `M${i * 6 + x} ${y}h1v1h-1z`),
    );
  });
  return `<path transform="translate(${left} ${top}) scale(${scale})" fill="#212529" d="${squares.join('')}"/>`;
}

if (import.meta.main) {
  const path = process.argv[2] ?? 'contact-sheet.png';
  await writeFile(path, contactSheet());
  console.log(path);
}
