import type { Static } from '@sinclair/typebox';
import type { CountedCode } from '../codes/codes.ts';
import { findArt } from '../codes/logos.ts';
import type { Label } from '../qr/sheet/sheet-page.ts';
import type { Sheets } from '../qr/sheet/sheets.ts';
import { type Operation, operation } from './operation.ts';
import type { Service } from './service.ts';
import { codesOf, NewSheet, readSheet, type SheetRequest } from './sheet-request.ts';

/** The operation that prints codes on label sheets. */
export const sheetOperations = (service: Service, sheets: Sheets): Operation[] => [createSheet(service, sheets)];

const createSheet = (service: Service, sheets: Sheets): Operation =>
  operation({
    operationId: 'createSheet',
    method: 'POST',
    path: '/v1/sheets',
    tag: 'Print',
    summary: 'Print QR codes on label sheets',
    description:
      'Returns a PDF file with one label for each code, in the order of `qr_ids`, or by age for a `tag`. Print it at 100 %. Nothing is stored.',
    body: NewSheet,
    // Validated by readSheet, which names fields within the layout.
    checkBody: (body) => body as Static<typeof NewSheet>,
    success: { status: 200, description: 'The sheets.', files: ['application/pdf'] },
    errors: ['invalid_request', 'not_found', 'payload_too_large', 'unsupported_media_type'],
    async handle({ caller, body }) {
      const request = readSheet(body);
      const codes = await codesOf(service, caller, request);
      const { layout, color, skip } = request;
      const labels = (from: number, to: number) =>
        Promise.all(codes.slice(from, to).map((code) => labelOf(service, code, request)));
      return {
        status: 200,
        pieces: sheets.write({ layout, color, skip, title: 'QR code labels', count: codes.length, labels }),
        headers: {
          'content-type': 'application/pdf',
          'content-disposition': 'attachment; filename="labels.pdf"',
        },
      };
    },
  });

async function labelOf(
  { sql, addresses }: Service,
  { short_code, style, name }: CountedCode,
  { caption }: Pick<SheetRequest, 'caption'>,
): Promise<Label> {
  const url = `${addresses.shortBaseUrl}/${short_code}`;
  const captions = { none: undefined, name, short_url: url.replace(/^https?:\/\//, '') };
  const logo = style.logo === undefined ? undefined : await findArt(sql, style.logo.id);
  return { url, style, logo, caption: captions[caption] };
}
