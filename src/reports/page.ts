import frameFont from '../qr/frame-font.json' with { type: 'json' };
import type { LogoArt } from '../qr/logo-art.ts';
import { cutOff, wrapped, writableText } from '../qr/sheet/caption.ts';
import { inkOf } from '../qr/vector/ink.ts';
import { numerals, pointsOf } from '../qr/vector/numbers.ts';
import { placement } from '../qr/vector/pdf.ts';
import { contentOf, nameOf, type PdfPart } from '../qr/vector/pdf-content.ts';
import { deflated } from '../qr/vector/pdf-file.ts';
import { drawLine, lineWidthMm } from '../qr/vector/pdf-text.ts';

/** A4, in millimeters. */
export const pageMm = { width: 210, height: 297 };

interface TextStyle {
  sizeMm: number;
  color: string;
  align?: 'left' | 'right' | 'center';
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A text without the characters that the font lacks; `otherwise` if that leaves too little of it. */
export const printable = (text: string, otherwise: string): string => writableText(text, otherwise, frameFont);

/** The lines of a text, cut off after `maxLines`. */
export function linesOf(text: string, widthMm: number, sizeMm: number, maxLines: number): string[] {
  const lines = wrapped(text, widthMm / sizeMm, frameFont);
  return lines.length <= maxLines ? lines : cutOff(lines.slice(0, maxLines), widthMm / sizeMm, frameFont);
}

/** One page of a report. Positions are in millimeters from its top left. */
export class ReportPage {
  readonly #operators: string[] = [];
  readonly #parts = new Map<string, PdfPart>();

  /** Draws one line; `x` is its left or right end or its center. */
  text(text: string, x: number, baseline: number, { sizeMm, color, align = 'left' }: TextStyle): void {
    const width = lineWidthMm(text, sizeMm);
    const left = align === 'left' ? x : align === 'right' ? x - width : x - width / 2;
    this.#operators.push(
      `${inkOf(color, 'rgb')} rg`,
      ...drawLine({ text, x: left, baseline, sizeMm }, fromTop, this.#parts),
    );
  }

  rect({ x, y, width, height }: Box, color: string): void {
    const box = numerals(pointsOf(x), fromTop(y + height), pointsOf(width), pointsOf(height));
    this.#operators.push(`${inkOf(color, 'rgb')} rg ${box} re f`);
  }

  /** Draws a line through points. */
  path(points: readonly (readonly [x: number, y: number])[], widthMm: number, color: string): void {
    const [first, ...others] = points.map(([x, y]) => numerals(pointsOf(x), fromTop(y)));
    if (first === undefined) return;
    const stroke = `${inkOf(color, 'rgb')} RG ${numerals(pointsOf(widthMm))} w 1 J 1 j`;
    this.#operators.push(`${stroke} ${first} m ${others.map((point) => `${point} l`).join(' ')} S`);
  }

  /** Draws an image as large as fits, at the left of the box. */
  image(art: LogoArt, box: Box): void {
    const scale = Math.min(box.width / art.width, box.height / art.height);
    const shape = { kind: 'logo', art, plate: undefined, x: 0, y: 0, width: art.width, height: art.height } as const;
    const { operators, parts } = contentOf([shape], 'rgb', '#FFFFFF');
    const form: PdfPart = {
      name: nameOf('L', operators),
      kind: 'XObject',
      dictionary: `/Type/XObject/Subtype/Form/BBox[${numerals(0, 0, art.width, art.height)}]`,
      stream: deflated(operators),
      ...(parts.length === 0 ? {} : { uses: parts }),
    };
    this.#parts.set(form.name, form);
    const placed = placement({ x: 0, y: 0 }, pointsOf(scale), pointsOf(box.x), fromTop(box.y));
    this.#operators.push(`q ${placed} /${form.name} Do Q`);
  }

  /** The compressed content, and the parts that it names. */
  content(): { content: Uint8Array; parts: PdfPart[] } {
    return { content: deflated(this.#operators.join('\n')), parts: [...this.#parts.values()] };
  }
}

const fromTop = (mm: number): number => pointsOf(pageMm.height - mm);
