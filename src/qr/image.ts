import { createHash } from 'node:crypto';
import type { Style } from '../../events/style.ts';
import { defaultQuietZone } from '../../events/style-shapes.ts';
import frameFont from './frame-font.json' with { type: 'json' };
import type { LogoArt } from './logo-art.ts';
import { drawPng } from './png.ts';
import { withResolution } from './png-file.ts';
import { defaultWidthMm, type ImageFormat, type InkSpace, maxPrintSizePx } from './print-sizes.ts';
import { sceneOf } from './scene.ts';
import { isPlain, lookOf } from './style.ts';
import { drawSvg } from './svg.ts';
import { writeEps } from './vector/eps.ts';
import { writePdf } from './vector/pdf.ts';

/** Increase with every change of how images look: it is part of the ETag, and clients cache images for a year. */
export const drawingVersion = 1;

/**
 * Increase with every change of the bytes of these files, also if they look the same: their `ETag` is strong. `layered`
 * images have more than a symbol in solid colors; the others are the same, byte for byte, in all versions.
 */
const fileVersions = { pdf: 2, layered: { png: 3, svg: 1, pdf: 1, eps: 1 } } as const;

export type { ImageFormat } from './print-sizes.ts';

export const mediaTypes: Readonly<Record<ImageFormat, string>> = {
  png: 'image/png',
  svg: 'image/svg+xml; charset=utf-8',
  pdf: 'application/pdf',
  eps: 'application/postscript',
};

/** All inputs of an image. */
export interface QrImage {
  /** The text of the symbol: a short link, or the content of a static code. */
  url: string;
  /** What the file calls itself, if not after its text. */
  title?: string | undefined;
  /** Whether the symbol says that a text beyond ASCII is UTF-8; links do not. */
  declaresUtf8?: boolean | undefined;
  style: Style;
  format: ImageFormat;
  /** Width in pixels, of PNG and SVG. */
  size: number;
  /** Physical size and inks, of PDF and EPS. */
  print?: { widthMm: number; color: InkSpace } | undefined;
  /** Resolution to record in a PNG. */
  dpi?: number | undefined;
  /** The image of `style.logo`. */
  logo?: LogoArt | undefined;
}

/** Throws a `RangeError` for a size or a style that cannot be drawn. */
export async function drawQrImage(image: QrImage): Promise<Uint8Array<ArrayBuffer>> {
  const { url, style, format, size, print, dpi, logo, title = `QR code for ${url}` } = image;
  const options = { logo, font: frameFont, declaresUtf8: image.declaresUtf8 };
  switch (format) {
    case 'png': {
      const png = await drawPng(url, style, size, { ...options, maxSizePx: maxPrintSizePx });
      return dpi === undefined ? png : withResolution(png, dpi);
    }
    case 'svg':
      return new TextEncoder().encode(drawSvg(url, style, size, { ...options, title }));
    default: {
      const { widthMm, color } = print ?? { widthMm: defaultWidthMm, color: 'rgb' };
      const scene = sceneOf(url, style, options);
      if (format === 'pdf') return writePdf(scene, widthMm, color, title);
      return new TextEncoder().encode(writeEps(scene, widthMm, color, title));
    }
  }
}

/**
 * A strong `ETag`, computed without drawing. Styles that look the same have the same `ETag`.
 *
 * @example
 * etagOf({ url: 'https://sho.rt/aB3xY7z', style: {}, format: 'png', size: 512 }); // "\"y0Zt…\""
 */
export function etagOf({ url, style, format, size, print, dpi }: QrImage): string {
  // Only what differs from a style without them, so that the ETags of images from before these fields stay valid.
  const look = lookOf(style);
  const { quietZone, errorCorrection, logo, frame, ...symbol } = look;
  const { dotsGradient, cornersSquareGradient, cornersDotGradient, backgroundGradient, ...contract } = symbol;
  const added = {
    ...(quietZone === defaultQuietZone ? {} : { quietZone }),
    ...(errorCorrection === 'M' ? {} : { errorCorrection }),
    dotsGradient,
    cornersSquareGradient,
    cornersDotGradient,
    backgroundGradient,
    logo,
    frame,
  };
  const parts = [drawingVersion, url, format, size, ...Object.entries(contract).sort().flat()];
  const given = JSON.stringify(added);
  if (given !== '{}') parts.push(given);
  if (print !== undefined || dpi !== undefined) parts.push(JSON.stringify({ print, dpi }));
  if (format === 'pdf') parts.push(`pdf ${fileVersions.pdf}`);
  if (!isPlain(look)) parts.push(`layered ${fileVersions.layered[format]}`);
  return `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}"`;
}

/** Whether an `If-None-Match` header contains the `ETag`, by the weak comparison of RFC 9110. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const listed = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return listed.some((tag) => tag.replace(/^W\//, '') === etag);
}
