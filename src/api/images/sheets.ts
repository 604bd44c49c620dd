import type { Static } from '@sinclair/typebox';
import { urlOfLink } from '../../../events/link.ts';
import type { Caller } from '../../accounts/admission.ts';
import { findArt } from '../../codes/logos.ts';
import type { PrintedCode } from '../../codes/printed.ts';
import type { LogoArt } from '../../qr/logo-art.ts';
import type { Label } from '../../qr/sheet/sheet-page.ts';
import { type Labels, writeSheets } from '../../qr/sheet/sheets.ts';
import type { Renderer } from '../../render/renderer.ts';
import { type Operation, operation } from '../http/operation.ts';
import { started } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { codesOf, NewSheet, readSheet, type SheetRequest } from './sheet-request.ts';

/** The operation that prints codes on label sheets. */
export const sheetOperations = (service: Service, renderer: Renderer): Operation[] => [createSheet(service, renderer)];

const createSheet = (service: Service, renderer: Renderer): Operation =>
  operation({
    operationId: 'createSheet',
    method: 'POST',
    path: '/v1/sheets',
    tag: 'Print',
    summary: 'Print QR codes on label sheets',
    description:
      'Returns a PDF file with one label for each code, in the order of `qr_ids`, or by name for a `tag`, unless `sort` is given. Print it at 100 %. Nothing is stored.',
    body: NewSheet,
    // Validated by readSheet, which names fields within the layout.
    checkBody: (body) => body as Static<typeof NewSheet>,
    success: { status: 200, description: 'The sheets.', files: ['application/pdf'] },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, body, signal }) {
      const request = readSheet(body);
      const { layout, color, skip } = request;
      const sheet = { layout, color, skip, title: 'QR code labels', labels: () => labelsOf(service, caller, request) };
      const drawnFor = { account: caller.account, signal };
      return {
        status: 200,
        pieces: await started(writeSheets(sheet, (load) => renderer.run('page', load, drawnFor))),
        headers: {
          'content-type': 'application/pdf',
          'content-disposition': 'attachment; filename="labels.pdf"',
        },
      };
    },
  });

async function labelsOf(service: Service, caller: Caller, request: SheetRequest): Promise<Labels> {
  const codes = await codesOf(service, caller, request);
  return {
    count: codes.length,
    async part(from, to) {
      const shown = codes.slice(from, to);
      const logos = await logosOf(service, shown);
      return shown.map((code) => labelOf(code, request, service.addresses.shortBaseUrl, logos));
    },
  };
}

/** The logos of the codes on a page, by id. */
async function logosOf({ sql }: Service, codes: readonly PrintedCode[]): Promise<Map<string, LogoArt | undefined>> {
  const ids = [...new Set(codes.flatMap(({ style }) => style.logo?.id ?? []))];
  return new Map(await Promise.all(ids.map(async (id) => [id, await findArt(sql, id)] as const)));
}

function labelOf(
  { short_code, style, name }: PrintedCode,
  { caption }: Pick<SheetRequest, 'caption'>,
  shortBaseUrl: string,
  logos: ReadonlyMap<string, LogoArt | undefined>,
): Label {
  const url = urlOfLink(short_code, shortBaseUrl);
  const captions = { none: undefined, name, short_url: url.replace(/^https?:\/\//, '') };
  return { url, style, logo: logos.get(style.logo?.id ?? ''), caption: captions[caption] };
}
