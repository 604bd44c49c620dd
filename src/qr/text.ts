import type { Area } from './fill.ts';
import { type CurveSegment, mapPoints } from './path.ts';
import { parsePath } from './path-data.ts';

/** Outlines of a font: each character has its advance and the path data of its outline, whose baseline is y = 0. */
export interface FrameFont {
  readonly unitsPerEm: number;
  readonly capHeight: number;
  readonly glyphs: Readonly<Record<string, readonly (number | string)[]>>;
}

const lineHeightEm = 1.2;
/** The width of a character that the font lacks, which is drawn as an empty box. */
const missingAdvance = 600;
const missingPath = 'm80 0v-700h440v700zm60-60h320v-580h-320z';

/** The characters of a text that a font lacks, each once. Letters with accents are composed before. */
export function missingCharacters(text: string, font: FrameFont): string[] {
  return [...new Set(text.normalize('NFC'))].filter((char) => !/\s/.test(char) && !Object.hasOwn(font.glyphs, char));
}

/**
 * The outlines of a text, centered in an area and as large as fits, up to a cap height of `maxCapHeight`. A text that
 * would be small in one line is set in two, if that makes it larger.
 */
export function textPath(text: string, area: Area, maxCapHeight: number, font: FrameFont): CurveSegment[] {
  const words = text
    .normalize('NFC')
    .split(/\s+/)
    .filter((word) => word !== '');
  const settings = [[words.join(' ')], ...splits(words)].map((lines) => ({
    lines,
    size: fittingSize(lines, area, maxCapHeight, font),
    width: Math.max(...lines.map((line) => widthOf(line, font))),
  }));
  // Of two lines, the most even ones.
  const [best] = settings.sort((a, b) => b.size - a.size || a.lines.length - b.lines.length || a.width - b.width);
  if (best === undefined || best.size === 0) return [];
  const { lines, size } = best;
  const scale = size / font.unitsPerEm;
  const step = size * lineHeightEm;
  const height = font.capHeight * scale + step * (lines.length - 1);
  const firstBaseline = area.y + (area.height - height) / 2 + font.capHeight * scale;
  return lines.flatMap((line, i) => {
    const x = area.x + (area.width - widthOf(line, font) * scale) / 2;
    return linePath(line, x, firstBaseline + i * step, scale, font);
  });
}

/** All ways to set words in two lines. */
const splits = (words: string[]): string[][] =>
  words.slice(1).map((_, i) => [words.slice(0, i + 1).join(' '), words.slice(i + 1).join(' ')]);

function fittingSize(lines: string[], area: Area, maxCapHeight: number, font: FrameFont): number {
  const capEm = font.capHeight / font.unitsPerEm;
  const width = Math.max(...lines.map((line) => widthOf(line, font))) / font.unitsPerEm;
  const heightEm = capEm + lineHeightEm * (lines.length - 1);
  // Two lines may use more of the height than one, whose size is set by its letters.
  const fromHeight = lines.length === 1 ? maxCapHeight / capEm : area.height / heightEm;
  return width === 0 ? 0 : Math.min(fromHeight, maxCapHeight / capEm, area.width / width);
}

const advanceOf = (char: string, font: FrameFont) => Number(glyphOf(char, font)[0]);

/** The advance and the outline of a character, or of an empty box if the font lacks it. */
export const glyphOf = (char: string, font: FrameFont) =>
  (Object.hasOwn(font.glyphs, char) ? font.glyphs[char] : undefined) ?? [missingAdvance, missingPath];

export const widthOf = (line: string, font: FrameFont) =>
  [...line].reduce((width, char) => width + advanceOf(char, font), 0);

function linePath(line: string, x: number, baseline: number, scale: number, font: FrameFont): CurveSegment[] {
  let left = x;
  return [...line].flatMap((char) => {
    const [advance = 0, data = ''] = glyphOf(char, font);
    const from = left;
    left += Number(advance) * scale;
    const place = (glyphX: number, glyphY: number) => ({ x: from + glyphX * scale, y: baseline + glyphY * scale });
    return mapPoints(parsePath(String(data)), place);
  });
}
