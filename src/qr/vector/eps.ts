import { rgbOf } from '../color.ts';
import type { Fill } from '../fill.ts';
import type { LogoPath, LogoStroke } from '../logo-art.ts';
import type { Path } from '../path.ts';
import { parsePath } from '../path-data.ts';
import type { LogoShape, Scene } from '../scene.ts';
import { type InkSpace, inkOf, inksOf } from './ink.ts';
import { numeral, numerals, pointsOf } from './numbers.ts';
import { outlineOf } from './outline-text.ts';
import { behindLogo, shapesOf } from './pdf.ts';
import { precise, strokeColor } from './pdf-content.ts';
import { type ImagePixels, pixelsOf } from './png-pixels.ts';
import { blended, shadingOf } from './shading.ts';

/** The names of PDF's operators, so that outlines are written alike. */
const prolog = [
  '%%BeginProlog',
  '/ScanlogDict 16 dict def',
  'ScanlogDict begin',
  '/m/moveto load def/l/lineto load def/c/curveto load def/h/closepath load def',
  '/f/fill load def/e/eofill load def/W{clip newpath}bind def/w{eoclip newpath}bind def',
  '/q/gsave load def/Q/grestore load def',
  'end',
  '%%EndProlog',
];

/** Writes a scene as an Encapsulated PostScript file, which is exactly that wide. */
export function writeEps(scene: Scene, widthMm: number, space: InkSpace, title: string): string {
  const { area } = scene;
  const width = pointsOf(widthMm);
  const scale = width / area.width;
  const height = area.height * scale;
  const writer = new EpsWriter(space, behindLogo(scene));
  for (const shape of shapesOf(scene)) {
    if (shape.kind === 'logo') writer.drawLogo(shape);
    else writer.draw(shape.path, shape.fill);
  }
  return [
    '%!PS-Adobe-3.0 EPSF-3.0',
    `%%BoundingBox: 0 0 ${Math.ceil(width)} ${Math.ceil(height)}`,
    `%%HiResBoundingBox: 0 0 ${numeral(width)} ${numeral(height)}`,
    '%%Creator: Scanlog',
    `%%Title: ${title.replace(/[^\x20-\x7E]/g, '?').slice(0, 200)}`,
    '%%LanguageLevel: 3',
    '%%DocumentData: Clean7Bit',
    '%%Pages: 1',
    '%%EndComments',
    ...prolog,
    '%%Page: 1 1',
    'ScanlogDict begin q',
    // PostScript's y axis points up, the y axis of scenes down.
    `[${precise(scale)} 0 0 ${precise(-scale)} ${numeral(-area.x * scale)} ${numeral(height + area.y * scale)}] concat`,
    ...writer.lines,
    'Q end',
    'showpage',
    '%%Trailer',
    '%%EOF',
    '',
  ].join('\n');
}

const strokeCaps = { round: 1, square: 2 } as const;
const strokeJoins = { round: 1, bevel: 2 } as const;
const defaultMiterLimit = 4;

/** PostScript has no transparency: translucent colors are mixed with the solid color behind them. */
class EpsWriter {
  readonly lines: string[] = [];
  readonly #space: InkSpace;
  readonly #behind: string;

  constructor(space: InkSpace, behind: string) {
    this.#space = space;
    this.#behind = behind;
  }

  draw(path: Path, fill: Fill): void {
    this.#fill(outlineOf(path), fill, 1, false);
  }

  drawLogo({ art, x, y, width, height }: LogoShape): void {
    if (art.kind === 'raster') {
      this.#drawImage(pixelsOf(art.png), `${numerals(width, 0, 0, height, x, y)}`);
      return;
    }
    const [scaleX, scaleY] = [width / art.width, height / art.height];
    this.lines.push(`q [${precise(scaleX)} 0 0 ${precise(scaleY)} ${numerals(x, y)}] concat`);
    this.lines.push(`0 0 ${numerals(art.width, art.height)} rectclip`);
    for (const path of art.paths) this.#drawLogoPath(path);
    this.lines.push('Q');
  }

  #fill(outline: string, fill: Fill, opacity: number, isEvenOdd: boolean): void {
    if (typeof fill === 'string') {
      this.lines.push(this.#color(blended(fill, opacity, this.#behind)), outline, isEvenOdd ? 'e' : 'f');
      return;
    }
    const stops = fill.stops.map((stop) => ({ ...stop, opacity: (stop.opacity ?? 1) * opacity }));
    const shading = shadingOf({ ...fill, stops }, this.#space, this.#behind);
    this.lines.push('q', outline, isEvenOdd ? 'w' : 'W', `${shading} shfill`, 'Q');
  }

  #color(color: string): string {
    return `${inkOf(color, this.#space)} ${this.#space === 'rgb' ? 'setrgbcolor' : 'setcmykcolor'}`;
  }

  #drawLogoPath({ d, fill, fillRule, opacity = 1, stroke, clips = [] }: LogoPath): void {
    this.lines.push('q');
    for (const clip of clips) this.lines.push(outlineOf(parsePath(clip.d)), clip.rule === 'evenodd' ? 'w' : 'W');
    const outline = outlineOf(parsePath(d));
    if (fill !== undefined) this.#fill(outline, fill, opacity, fillRule === 'evenodd');
    if (stroke !== undefined) this.lines.push(this.#strokeState(stroke, opacity), outline, 'stroke');
    this.lines.push('Q');
  }

  #strokeState(stroke: LogoStroke, opacity: number): string {
    const { color, width, cap, join, miterLimit = defaultMiterLimit, dashes = [], dashOffset = 0 } = stroke;
    return [
      this.#color(blended(strokeColor(color, this.#behind), opacity, this.#behind)),
      `${numeral(width)} setlinewidth`,
      `${cap === undefined ? 0 : strokeCaps[cap]} setlinecap`,
      `${join === undefined ? 0 : strokeJoins[join]} setlinejoin`,
      `${numeral(miterLimit)} setmiterlimit`,
      `[${numerals(...dashes)}] ${numeral(dashOffset)} setdash`,
    ].join(' ');
  }

  /** The pixels as hexadecimal digits in the file itself. */
  #drawImage(image: ImagePixels, placement: string): void {
    const { width, height } = image;
    const inks = inksOf(flattened(image, this.#behind), this.#space);
    const [name, decode] = this.#space === 'rgb' ? ['/DeviceRGB', '0 1 0 1 0 1'] : ['/DeviceCMYK', '0 1 0 1 0 1 0 1'];
    this.lines.push(
      `q [${placement}] concat ${name} setcolorspace`,
      `<</ImageType 1/Width ${width}/Height ${height}/BitsPerComponent 8/Decode[${decode}]` +
        `/ImageMatrix[${width} 0 0 ${height} 0 0]/DataSource currentfile/ASCIIHexDecode filter>> image`,
      ...(Buffer.from(inks)
        .toString('hex')
        .match(/.{1,128}/g) ?? []),
      '> Q',
    );
  }
}

/** The pixels on a color. */
function flattened({ rgb, alpha }: ImagePixels, behind: string): Uint8Array {
  if (alpha === undefined) return rgb;
  const paper = rgbOf(behind);
  return rgb.map((value, i) => {
    const share = (alpha[Math.floor(i / 3)] as number) / 255;
    return Math.round((paper[i % 3] as number) * (1 - share) + value * share);
  });
}
