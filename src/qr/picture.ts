import { createHash } from 'node:crypto';
import { drawPng } from './png.ts';
import { lookOf, type Style } from './style.ts';
import { drawSvg } from './svg.ts';

/** To be raised with every change that makes a picture look or read differently: clients keep pictures for a year. */
export const DRAWING_VERSION = 1;

export type PictureFormat = 'png' | 'svg';

export const MEDIA_TYPES: Readonly<Record<PictureFormat, string>> = {
  png: 'image/png',
  svg: 'image/svg+xml; charset=utf-8',
};

/** Everything that determines a picture's bytes. */
export interface Picture {
  url: string;
  style: Style;
  format: PictureFormat;
  size: number;
}

/** A picture's bytes. Throws a `RangeError` for a size or a style that cannot be drawn. */
export async function drawPicture({ url, style, format, size }: Picture): Promise<Uint8Array<ArrayBuffer>> {
  return format === 'png' ? drawPng(url, style, size) : new TextEncoder().encode(drawSvg(url, style, size));
}

/**
 * A strong `ETag` that is known without drawing. Styles that look the same have the same one.
 *
 * @example
 * etagOf({ url: 'https://sho.rt/aB3xY7z', style: {}, format: 'png', size: 512 }); // "\"y0Zt…\""
 */
export function etagOf({ url, style, format, size }: Picture): string {
  const look = lookOf(style);
  const parts = [DRAWING_VERSION, url, format, size, ...Object.entries(look).sort().flat()];
  return `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}"`;
}

/** Whether an `If-None-Match` header names this picture, by weak comparison as RFC 9110 asks for. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const listed = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return listed.some((tag) => tag.replace(/^W\//, '') === etag);
}
