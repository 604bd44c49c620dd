import { defaultSizePx, maxSizePx, minSizePx } from '../../../qr/layout.ts';
import {
  defaultDpi,
  defaultWidthMm,
  type ImageFormat,
  type InkSpace,
  isPrintFormat,
  maxDpi,
  maxPrintSizePx,
  maxWidthMm,
  minDpi,
  minWidthMm,
  pixelsOf,
} from '../../../qr/print-sizes.ts';
import type { Query } from '../api.ts';

/** What the user has entered. */
export interface DownloadFields {
  format: ImageFormat;
  unit: 'px' | 'mm';
  size: string;
  widthMm: string;
  dpi: string;
  color: InkSpace;
}

export const initialFields: DownloadFields = {
  format: 'png',
  unit: 'px',
  color: 'rgb',
  size: String(2 * defaultSizePx),
  widthMm: String(defaultWidthMm),
  dpi: String(defaultDpi),
};

export const isInMm = ({ format, unit }: DownloadFields) =>
  isPrintFormat(format) || (format === 'png' && unit === 'mm');

const outside = (text: string, pattern: RegExp, min: number, max: number) =>
  !pattern.test(text) || Number(text) < min || Number(text) > max;
const whole = /^\d+$/;
const decimal = /^\d+(\.\d{1,2})?$/;

export interface DownloadErrors {
  size?: string;
  widthMm?: string;
  dpi?: string;
}

/** The errors of the fields that the chosen format has. */
export function errorsOf(fields: DownloadFields, minPx = minSizePx): DownloadErrors {
  const { format, size, widthMm, dpi } = fields;
  if (!isInMm(fields))
    return outside(size, whole, minPx, maxSizePx) ? { size: `Enter a size from ${minPx} to ${maxSizePx}.` } : {};
  if (outside(widthMm, decimal, minWidthMm, maxWidthMm))
    return { widthMm: `Enter a width from ${minWidthMm} to ${maxWidthMm}.` };
  if (format !== 'png') return {};
  if (outside(dpi, whole, minDpi, maxDpi)) return { dpi: `Enter a resolution from ${minDpi} to ${maxDpi}.` };
  const pixels = pixelsOf(Number(widthMm), Number(dpi));
  if (pixels < minPx)
    return { dpi: `That is only ${pixels} pixels; a code needs at least ${minPx}. Choose a higher resolution.` };
  if (pixels > maxPrintSizePx)
    return { dpi: `That is ${pixels} pixels; the limit is ${maxPrintSizePx}. Choose less, or a PDF.` };
  return {};
}

/** The parameters of a download. */
export function queryOf(fields: DownloadFields): Query {
  const { format, size, widthMm, dpi, color } = fields;
  if (!isInMm(fields)) return { format, size };
  return { format, width_mm: widthMm, ...(format === 'png' ? { dpi } : { color }) };
}
