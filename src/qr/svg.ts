import type { Style } from '../../events/style.ts';
import type { SceneOptions } from './composition.ts';
import type { Fill, GradientFill } from './fill.ts';
import type { Layout } from './layout.ts';
import type { LogoPath, LogoStroke, RasterLogo, VectorLogo } from './logo-art.ts';
import { writePathData } from './path-data.ts';
import { type LogoShape, type PathShape, pixelSceneOf, type Scene, type Shape } from './scene.ts';

/**
 * Draws a short URL as an SVG document, with the same layout as the PNG of the same size.
 *
 * @example
 * drawSvg('https://sho.rt/aB3xY7z', { dotsType: 'rounded' }, 512);
 */
export function drawSvg(
  url: string,
  style: Style,
  size: number,
  options: SceneOptions & { title?: string } = {},
): string {
  const { scene, layout } = pixelSceneOf(url, style, size, options);
  return writeSvg(scene, layout, options.title ?? `QR code for ${url}`);
}

/** Writes a scene as an SVG document. */
export function writeSvg({ area, background, shapes }: Scene, layout: Layout, title: string): string {
  const { size, height, scale, offset, offsetY } = layout;
  const defs = new Definitions();
  const body = shapes.map((shape) => shapeMarkup(shape, defs));
  const gradientBackground =
    background === undefined || typeof background === 'string'
      ? []
      : [
          `<rect x="${area.x}" y="${area.y}" width="${area.width}" height="${area.height}" fill="${defs.fill(background)}"/>`,
        ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${height}" viewBox="0 0 ${size} ${height}" role="img">`,
    `<title>${escapeText(title)}</title>`,
    ...defs.markup(),
    ...(typeof background === 'string' ? [`<rect width="${size}" height="${height}" fill="${background}"/>`] : []),
    `<g transform="translate(${offset} ${offsetY}) scale(${scale})">`,
    ...gradientBackground,
    ...body,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** A logo as an SVG document. */
export function writeVectorLogo(logo: VectorLogo): string {
  const defs = new Definitions();
  const { width, height } = logo;
  const paths = logo.paths.map((path) => logoPathMarkup(path, defs));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    ...defs.markup(),
    ...paths,
    '</svg>',
    '',
  ].join('\n');
}

/** Gradients and clip paths, which shapes refer to. */
class Definitions {
  readonly #ids = new Map<string, string>();

  /** The value of a `fill` or `stroke` attribute. */
  fill(fill: Fill): string {
    return typeof fill === 'string' ? fill : `url(#${this.#idOf(gradientMarkup(fill))})`;
  }

  clip(d: string, rule: 'evenodd' | undefined, inner: string | undefined): string {
    const outer = inner === undefined ? '' : ` clip-path="url(#${inner})"`;
    const clipRule = rule === undefined ? '' : ` clip-rule="${rule}"`;
    return this.#idOf(['clipPath', outer, `<path${clipRule} d="${d}"/>`]);
  }

  markup(): string[] {
    return [...this.#ids.keys()].length === 0
      ? []
      : ['<defs>', ...[...this.#ids].map(([definition, id]) => definition.replace('>', ` id="${id}">`)), '</defs>'];
  }

  // Named after its content, because a page may contain several images.
  #idOf([element, attributes, content]: [string, string, string]): string {
    const markup = `<${element}${attributes}>${content}</${element}>`;
    const id = this.#ids.get(markup) ?? `qr${hashOf(markup)}`;
    this.#ids.set(markup, id);
    return id;
  }
}

/** FNV-1a with 32 bits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(36);
}

function gradientMarkup(fill: GradientFill): [string, string, string] {
  const stops = fill.stops
    .map(({ offset, color, opacity }) => {
      const faded = opacity === undefined ? '' : ` stop-opacity="${opacity}"`;
      return `<stop offset="${offset}" stop-color="${color}"${faded}/>`;
    })
    .join('');
  const units = ' gradientUnits="userSpaceOnUse"';
  if (fill.type === 'radial') {
    const matrix = fill.transform === undefined ? '' : ` gradientTransform="matrix(${fill.transform.join(' ')})"`;
    return ['radialGradient', `${units} cx="${fill.cx}" cy="${fill.cy}" r="${fill.r}"${matrix}`, stops];
  }
  return ['linearGradient', `${units} x1="${fill.x1}" y1="${fill.y1}" x2="${fill.x2}" y2="${fill.y2}"`, stops];
}

function shapeMarkup(shape: Shape, defs: Definitions): string {
  return shape.kind === 'path' ? pathMarkup(shape, defs) : logoMarkup(shape, defs);
}

function pathMarkup({ fill, isCrisp, path }: PathShape, defs: Definitions): string {
  return `<path fill="${defs.fill(fill)}"${isCrisp ? ' shape-rendering="crispEdges"' : ''} d="${writePathData(path)}"/>`;
}

function logoMarkup({ art, x, y, width, height }: LogoShape, defs: Definitions): string {
  const box = `x="${x}" y="${y}" width="${width}" height="${height}"`;
  if (art.kind === 'raster')
    return `<image ${box} preserveAspectRatio="none" href="data:image/png;base64,${base64Of(art)}"/>`;
  const paths = art.paths.map((path) => logoPathMarkup(path, defs));
  return `<svg ${box} viewBox="0 0 ${art.width} ${art.height}">${paths.join('')}</svg>`;
}

function logoPathMarkup({ d, fill, fillRule, opacity, stroke, clips = [] }: LogoPath, defs: Definitions): string {
  const clip = clips.reduce<string | undefined>((inner, area) => defs.clip(area.d, area.rule, inner), undefined);
  const attributes = [
    ` fill="${fill === undefined ? 'none' : defs.fill(fill)}"`,
    fillRule === undefined ? '' : ` fill-rule="${fillRule}"`,
    opacity === undefined ? '' : ` opacity="${opacity}"`,
    stroke === undefined ? '' : strokeAttributes(stroke, defs),
    clip === undefined ? '' : ` clip-path="url(#${clip})"`,
  ];
  return `<path${attributes.join('')} d="${d}"/>`;
}

function strokeAttributes(stroke: LogoStroke, defs: Definitions): string {
  const { color, width, cap, join, miterLimit, dashes, dashOffset } = stroke;
  const given: [string, string | number | undefined][] = [
    ['stroke', defs.fill(color)],
    ['stroke-width', width],
    ['stroke-linecap', cap],
    ['stroke-linejoin', join],
    ['stroke-miterlimit', miterLimit],
    ['stroke-dasharray', dashes?.join(' ')],
    ['stroke-dashoffset', dashOffset],
  ];
  return given.map(([name, value]) => (value === undefined ? '' : ` ${name}="${value}"`)).join('');
}

/** The preview of the console draws a logo many times. A text lives as long as its logo. */
const encodedLogos = new WeakMap<RasterLogo, string>();

function base64Of(logo: RasterLogo): string {
  const encoded = encodedLogos.get(logo) ?? base64(logo.png);
  encodedLogos.set(logo, encoded);
  return encoded;
}

/** Also runs in browsers, which have no Buffer. */
function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for XML and replaces characters that XML does not allow. */
export function escapeText(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced
      .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
      .replace(/[\ufffe\uffff]/g, '\ufffd')
      .replace(/[&<>"']/g, (char) => entities[char] ?? char)
  );
}
