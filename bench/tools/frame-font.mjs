/**
 * Writes src/qr/frame-font.json: outlines of the letters that frames can show, from Inter SemiBold. Only needed to change
 * the font or its characters, so its packages are no dependencies:
 *
 *   npm install --no-save @fontsource/inter@5.3.0 opentype.js@2.0.0 && node tools/frame-font.mjs
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const require = createRequire(process.argv[2] ?? import.meta.url);
const opentype = require('opentype.js');

const subsets = ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'vietnamese'];
const ranges = [
  [0x20, 0x7e], // Basic Latin
  [0xa0, 0x17f], // Latin-1, Latin Extended-A
  [0x192, 0x192],
  [0x1a0, 0x1a1], // Vietnamese
  [0x1af, 0x1b0],
  [0x1cd, 0x1dc],
  [0x218, 0x21b], // Romanian
  [0x384, 0x3ce], // Greek
  [0x400, 0x45f], // Cyrillic
  [0x490, 0x4ff], // Cyrillic of other languages than Russian
  [0x1e80, 0x1e85], // Welsh
  [0x1e9e, 0x1e9e],
  [0x1ea0, 0x1ef9], // Vietnamese
  [0x2010, 0x203a], // dashes, quotation marks, bullet, ellipsis
  [0x20a0, 0x20bf], // currencies
  [0x2116, 0x2122], // №, ™
  [0x2190, 0x2199], // arrows
  [0x2212, 0x2212],
  [0x2713, 0x2713],
];

const unitsPerEm = 1000;
const fonts = [];
for (const subset of subsets) {
  const file = require.resolve(`@fontsource/inter/files/inter-${subset}-600-normal.woff`);
  const bytes = await readFile(file);
  fonts.push(opentype.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)));
}

/** Relative commands with whole numbers, which are shorter than absolute ones. */
function pathOf(commands, scale) {
  let [x, y, startX, startY] = [0, 0, 0, 0];
  let path = '';
  const number = (value, isFirst) => (value < 0 || isFirst ? `${value}` : ` ${value}`);
  const point = (px, py) => [Math.round(px * scale), Math.round(py * scale)];
  for (const command of commands) {
    if (command.type === 'C') throw new Error('the font has cubic curves');
    if (command.type === 'Z') continue;
    if (command.type === 'M' && path !== '') {
      path += 'z';
      [x, y] = [startX, startY];
    }
    const [toX, toY] = point(command.x, command.y);
    const [dx, dy] = [toX - x, toY - y];
    if (command.type === 'L') {
      if (dy === 0) path += dx === 0 ? '' : `h${dx}`;
      else path += dx === 0 ? `v${dy}` : `l${dx}${number(dy)}`;
    } else if (command.type === 'Q') {
      const [controlX, controlY] = point(command.x1, command.y1);
      path += `q${controlX - x}${number(controlY - y)}${number(dx)}${number(dy)}`;
    } else {
      path += `m${dx}${number(dy)}`;
      [startX, startY] = [toX, toY];
    }
    [x, y] = [toX, toY];
  }
  return path === '' ? '' : `${path}z`;
}

const glyphs = {};
for (const [from, to] of ranges) {
  for (let code = from; code <= to; code++) {
    const char = String.fromCodePoint(code);
    const font = fonts.find((candidate) => candidate.charToGlyphIndex(char) > 0);
    if (font === undefined) continue;
    const glyph = font.charToGlyph(char);
    const scale = unitsPerEm / font.unitsPerEm;
    const path = pathOf(glyph.getPath(0, 0, font.unitsPerEm).commands, scale);
    glyphs[char] = [Math.round(glyph.advanceWidth * scale), path];
  }
}
const [latin] = fonts;
const capHeight = Math.round((latin.tables.os2.sCapHeight * unitsPerEm) / latin.unitsPerEm);
const lines = Object.entries(glyphs).map(([char, glyph]) => `    ${JSON.stringify(char)}: ${JSON.stringify(glyph)}`);
const header = {
  font: 'Inter SemiBold',
  copyright: 'Copyright 2016 The Inter Project Authors (https://github.com/rsms/inter)',
  license: 'SIL Open Font License 1.1, see frame-font-license.txt',
};
const text = [
  '{',
  ...Object.entries(header).map(([name, value]) => `  "${name}": ${JSON.stringify(value)},`),
  `  "unitsPerEm": ${unitsPerEm},`,
  `  "capHeight": ${capHeight},`,
  '  "glyphs": {',
  lines.join(',\n'),
  '  }',
  '}',
  '',
].join('\n');
await writeFile(new URL('../../src/qr/frame-font.json', import.meta.url), text);
console.log(`${lines.length} characters, ${text.length} bytes`);
