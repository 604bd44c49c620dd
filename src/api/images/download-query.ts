import { type Static, type TSchema, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import type { QrImage } from '../../qr/image.ts';
import { defaultSizePx, maxSizePx, minSizePx } from '../../qr/layout.ts';
import {
  defaultDpi,
  defaultWidthMm,
  imageFormats,
  inkSpaces,
  isPrintFormat,
  maxDpi,
  maxPrintSizePx,
  maxWidthMm,
  minDpi,
  minWidthMm,
  pixelsOf,
} from '../../qr/print-sizes.ts';

export const sizeQuery = t.Optional(
  t.Integer({
    minimum: minSizePx,
    maximum: maxSizePx,
    default: defaultSizePx,
    description: `Width in pixels, ${minSizePx} to ${maxSizePx}, of png and svg; without a frame also the height.`,
  }),
);

export const downloadQuery = t.Object({
  format: t.Optional(oneOf(imageFormats, { default: 'png', description: 'File format.' })),
  size: sizeQuery,
  width_mm: t.Optional(
    t.Number({
      minimum: minWidthMm,
      maximum: maxWidthMm,
      description: `Width in millimeters, quiet zone and frame included: of pdf and eps (default ${defaultWidthMm}), and of png in place of \`size\`.`,
    }),
  ),
  dpi: t.Optional(
    t.Integer({
      minimum: minDpi,
      maximum: maxDpi,
      description: `Pixels per inch of a png, which the file records. Default with \`width_mm\`: ${defaultDpi}. A png has at most ${maxPrintSizePx} pixels.`,
    }),
  ),
  color: t.Optional(
    oneOf(inkSpaces, {
      description: 'Color space of pdf and eps. Default: rgb. In cmyk, black is black ink alone.',
    }),
  ),
} satisfies Record<string, TSchema>);

/** How a code is drawn. */
export type ImageOptions = Pick<QrImage, 'format' | 'size' | 'print' | 'dpi'>;

/** The options that the parameters describe; throws 400 for parameters that do not go together. */
export function imageOptionsOf({
  format = 'png',
  size = defaultSizePx,
  width_mm,
  dpi,
  color,
}: Static<typeof downloadQuery>): ImageOptions {
  const isPrint = isPrintFormat(format);
  const errors: FieldError[] = [];
  const refuse = (field: string, message: string) => errors.push({ field, message: `${field} ${message}.` });
  // The default cannot be told apart from a size that is given.
  const hasSize = size !== defaultSizePx;
  if (hasSize && isPrint) refuse('size', `is for png and svg; use width_mm for ${format}`);
  if (hasSize && width_mm !== undefined && !isPrint) refuse('size', 'and width_mm cannot be given together');
  if (width_mm !== undefined && format === 'svg') refuse('width_mm', 'is for pdf, eps and png; use size for svg');
  if (dpi !== undefined && format !== 'png') refuse('dpi', 'is for png; the other formats have no pixels');
  if (color !== undefined && !isPrint) refuse('color', 'is for pdf and eps');
  const pixels = width_mm === undefined ? size : pixelsOf(width_mm, dpi ?? defaultDpi);
  if (errors.length === 0 && format === 'png' && (pixels < minSizePx || pixels > maxPrintSizePx))
    refuse('width_mm', `at ${dpi ?? defaultDpi} dpi has ${pixels} pixels; a png has ${minSizePx} to ${maxPrintSizePx}`);
  const [first, ...rest] = errors;
  if (first !== undefined) throw invalid([first, ...rest]);
  if (isPrint) return { format, size, print: { widthMm: width_mm ?? defaultWidthMm, color: color ?? 'rgb' } };
  if (width_mm === undefined) return { format, size, dpi };
  return { format, size: pixels, dpi: dpi ?? defaultDpi };
}
