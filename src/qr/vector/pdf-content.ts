import { createHash } from 'node:crypto';
import type { Fill } from '../fill.ts';
import type { LogoPath, LogoStroke } from '../logo-art.ts';
import { parsePath } from '../path-data.ts';
import type { LogoShape, Shape } from '../scene.ts';
import { type InkSpace, inkOf, inksOf } from './ink.ts';
import { numeral, numerals } from './numbers.ts';
import { outlineOf } from './outline-text.ts';
import { deflated } from './pdf-file.ts';
import { pixelsOf } from './png-pixels.ts';
import { blended, shadingOf } from './shading.ts';

/**
 * A part of a page that is named after its content, so that parts that occur several times in a file, such as a logo on a
 * sheet, are written once.
 */
export interface PdfPart {
  readonly name: string;
  readonly kind: 'XObject' | 'Shading' | 'ExtGState';
  /** A dictionary, or the entries of the dictionary of a stream. */
  readonly dictionary: string;
  /** Compressed. */
  readonly stream?: Uint8Array;
  /** The opacity of an image. */
  readonly mask?: { readonly dictionary: string; readonly stream: Uint8Array };
  /** Parts that the stream names. */
  readonly uses?: readonly PdfPart[];
}

/** Operators of a page or a form, and the parts that they name. */
export interface PdfContent {
  readonly operators: string;
  readonly parts: readonly PdfPart[];
}

export const nameOf = (prefix: string, content: string | Uint8Array): string =>
  prefix + createHash('sha256').update(content).digest('hex').slice(0, 16);

/** Draws shapes in their order and coordinates. `behind` is the color behind a logo. */
export function contentOf(shapes: readonly Shape[], space: InkSpace, behind: string): PdfContent {
  const writer = new ContentWriter(space, behind);
  for (const shape of shapes) writer.draw(shape);
  return writer.content();
}

const strokeCaps = { round: 1, square: 2 } as const;
const strokeJoins = { round: 1, bevel: 2 } as const;
const defaultMiterLimit = 4;

class ContentWriter {
  readonly #space: InkSpace;
  readonly #operators: string[] = [];
  readonly #parts = new Map<string, PdfPart>();
  readonly #behind: string;

  constructor(space: InkSpace, behind: string) {
    this.#space = space;
    this.#behind = behind;
  }

  content(): PdfContent {
    return { operators: this.#operators.join('\n'), parts: [...this.#parts.values()] };
  }

  draw(shape: Shape): void {
    if (shape.kind === 'logo') this.#drawLogo(shape);
    else this.#fill(outlineOf(shape.path), shape.fill, '');
  }

  #fill(outline: string, fill: Fill, rule: '' | '*'): void {
    if (typeof fill === 'string') {
      this.#operators.push(this.#color(fill, 'fill'), outline, `f${rule}`);
      return;
    }
    const dictionary = shadingOf(fill, this.#space, this.#behind);
    const name = this.#use({ name: nameOf('S', dictionary), kind: 'Shading', dictionary });
    this.#operators.push('q', outline, `W${rule} n`, `/${name} sh`, 'Q');
  }

  #color(color: string, use: 'fill' | 'stroke'): string {
    const operator = this.#space === 'rgb' ? 'rg' : 'k';
    return `${inkOf(color, this.#space)} ${use === 'fill' ? operator : operator.toUpperCase()}`;
  }

  #use(part: PdfPart): string {
    this.#parts.set(part.name, part);
    return part.name;
  }

  #drawLogo({ art, x, y, width, height }: LogoShape): void {
    if (art.kind === 'raster') {
      const name = this.#use(imagePart(art.png, this.#space));
      // The rows of an image start at the top of its square, whose y axis points up.
      this.#operators.push('q', `${numerals(width, 0, 0, -height, x, y + height)} cm`, `/${name} Do`, 'Q');
      return;
    }
    const [scaleX, scaleY] = [width / art.width, height / art.height];
    this.#operators.push('q', `${precise(scaleX)} 0 0 ${precise(scaleY)} ${numerals(x, y)} cm`);
    this.#operators.push(`0 0 ${numerals(art.width, art.height)} re W n`);
    for (const path of art.paths) this.#drawLogoPath(path);
    this.#operators.push('Q');
  }

  #drawLogoPath({ d, fill, fillRule, opacity = 1, stroke, clips = [] }: LogoPath): void {
    this.#operators.push('q');
    for (const clip of clips)
      this.#operators.push(outlineOf(parsePath(clip.d)), `${clip.rule === 'evenodd' ? 'W*' : 'W'} n`);
    if (opacity < 1) {
      const dictionary = `<</ca ${numeral(opacity)}/CA ${numeral(opacity)}>>`;
      this.#operators.push(`/${this.#use({ name: nameOf('G', dictionary), kind: 'ExtGState', dictionary })} gs`);
    }
    const outline = outlineOf(parsePath(d));
    if (fill !== undefined) this.#fill(outline, fill, fillRule === 'evenodd' ? '*' : '');
    if (stroke !== undefined) this.#operators.push(this.#strokeState(stroke), outline, 'S');
    this.#operators.push('Q');
  }

  #strokeState({ color, width, cap, join, miterLimit = defaultMiterLimit, dashes = [], dashOffset = 0 }: LogoStroke) {
    return [
      this.#color(strokeColor(color, this.#behind), 'stroke'),
      `${numeral(width)} w`,
      `${cap === undefined ? 0 : strokeCaps[cap]} J`,
      `${join === undefined ? 0 : strokeJoins[join]} j`,
      `${numeral(miterLimit)} M`,
      `[${numerals(...dashes)}] ${numeral(dashOffset)} d`,
    ].join(' ');
  }
}

/** Lines are too thin to show a gradient: they get the color in its middle. */
export function strokeColor(fill: Fill, behind: string): string {
  if (typeof fill === 'string') return fill;
  const middle = fill.stops[fill.stops.length >> 1];
  return middle === undefined ? behind : blended(middle.color, middle.opacity ?? 1, behind);
}

/** More decimals for scales: a rounded one is multiplied by thousands of units of a logo. */
export const precise = (value: number): string => String(Number(value.toFixed(8)));

function imagePart(png: Uint8Array, space: InkSpace): PdfPart {
  const { width, height, rgb, alpha } = pixelsOf(png);
  const image = `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 8`;
  const part: PdfPart = {
    name: nameOf('I', png) + (space === 'rgb' ? '' : 'k'),
    kind: 'XObject',
    dictionary: `${image}/ColorSpace/Device${space.toUpperCase()}/Interpolate true`,
    stream: deflated(inksOf(rgb, space)),
  };
  if (alpha === undefined) return part;
  return { ...part, mask: { dictionary: `${image}/ColorSpace/DeviceGray`, stream: deflated(alpha) } };
}
