import frameFont from '../frame-font.json' with { type: 'json' };
import { parsePath } from '../path-data.ts';
import { glyphOf, widthOf } from '../text.ts';
import { numerals, pointsOf } from './numbers.ts';
import { outlineOf } from './outline-text.ts';
import { placement } from './pdf.ts';
import type { PdfPart } from './pdf-content.ts';
import { deflated } from './pdf-file.ts';

/** A line of text: its size, and the point where its baseline starts, in millimeters from the top left of the page. */
export interface TextLine {
  readonly text: string;
  readonly x: number;
  readonly baseline: number;
  readonly sizeMm: number;
}

const maxCachedGlyphs = 1_000;

/** The width of a line in millimeters. */
export const lineWidthMm = (text: string, sizeMm: number): number =>
  (widthOf(text, frameFont) * sizeMm) / frameFont.unitsPerEm;

/** Each letter as a form that the whole file shares: its outline is written once. */
export function drawLine(line: TextLine, fromTop: (mm: number) => number, parts: Map<string, PdfPart>): string[] {
  const scaleMm = line.sizeMm / frameFont.unitsPerEm;
  let x = line.x;
  return [...line.text].flatMap((char) => {
    const left = x;
    x += widthOf(char, frameFont) * scaleMm;
    const glyph = glyphForm(char);
    if (glyph === undefined) return [];
    parts.set(glyph.name, glyph);
    const placed = placement({ x: 0, y: 0 }, pointsOf(scaleMm), pointsOf(left), fromTop(line.baseline));
    return [`q ${placed} /${glyph.name} Do Q`];
  });
}

const glyphForms = new Map<string, PdfPart>();

/** Undefined for a space. */
function glyphForm(char: string): PdfPart | undefined {
  const known = glyphForms.get(char);
  if (known !== undefined) return known;
  const [advance = 0, path = ''] = glyphOf(char, frameFont);
  if (path === '') return undefined;
  const em = frameFont.unitsPerEm;
  const form: PdfPart = {
    name: `C${char.codePointAt(0)?.toString(16)}`,
    kind: 'XObject',
    dictionary: `/Type/XObject/Subtype/Form/BBox[${numerals(-em, -2 * em, Number(advance) + em, em)}]`,
    stream: deflated(`${outlineOf(parsePath(String(path)))} f`),
  };
  // Names have any characters; the font has few.
  if (glyphForms.size < maxCachedGlyphs) glyphForms.set(char, form);
  return form;
}
