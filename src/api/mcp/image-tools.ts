import { type Static, Type as t } from '@sinclair/typebox';
import { exact } from '../http/schemas.ts';
import type { QrCode } from '../qrcodes/qrcode-schemas.ts';
import type { Operations } from './invoke.ts';
import { fieldsOf, qrId, requireOne, type Tool, tool } from './tool.ts';

/** Tools that draw codes, and check that they scan. */
export const imageTools = (operations: Operations): Tool[] => [image(), preflight(operations), sheet(operations)];

/** Larger images do not help a model, and their text fills its context. */
const maxSizePx = 1024;

const image = (): Tool =>
  tool({
    name: 'image',
    title: 'Show the image of a QR code',
    description:
      'Returns the image of a code as a PNG. The image never changes, whatever the code leads to. `image_url` of the response is public: use it in web pages and mails. For print, /v1/qrcodes/:id/download of the API gives PDF, EPS and SVG files.',
    input: t.Object(
      {
        qr_id: qrId,
        size: t.Optional(t.Integer({ minimum: 64, maximum: maxSizePx, default: 512, description: 'Width in pixels.' })),
      },
      exact,
    ),
    scope: 'codes.read',
    effect: 'reads',
    async run({ input: { qr_id, size = 512 }, invoke }) {
      const params = { id: qr_id };
      const { id, name, short_url, image_url } = await invoke.json<Static<typeof QrCode>>('getQrCode', { params });
      const file = await invoke.file('downloadQrCode', { params, query: { format: 'png', size } });
      return { value: { qr_id: id, name, short_url, image_url, size }, image: file };
    },
  });

const preflight = (operations: Operations): Tool =>
  tool({
    name: 'preflight',
    title: 'Check whether a QR code scans',
    description:
      'Finds out, before anything is printed, whether independent decoders read a code: as printed at 10 to 30 mm, out of focus, at an angle, in low light and in a compressed photo. Send qr_id for a code that exists, or style for one that does not exist yet. `smallest_mm` is the smallest safe width; `reasons` says what to change.',
    input: t.Object(
      { qr_id: t.Optional(qrId), ...optional(fieldsOf(operations, 'preflightStyle', 'body', ['style', 'short_code'])) },
      exact,
    ),
    scope: 'codes.read',
    effect: 'reads',
    async run({ input, invoke }) {
      requireOne(input, ['qr_id', 'style']);
      const { qr_id, ...body } = input;
      if (qr_id !== undefined) return { value: await invoke.json('preflightQrCode', { params: { id: qr_id } }) };
      return { value: await invoke.json('preflightStyle', { body }) };
    },
  });

const optional = (fields: Record<string, Parameters<typeof t.Optional>[0]>) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, t.Optional(field)]));

const sheet = (operations: Operations): Tool =>
  tool({
    name: 'sheet',
    title: 'Print QR codes on label sheets',
    description:
      'Returns a PDF file with one label for each code, for label stock or a grid of your own, to be printed at 100 %. Choose the codes by qr_ids or by tag. Nothing is stored.',
    input: t.Object(
      fieldsOf(operations, 'createSheet', 'body', ['qr_ids', 'tag', 'sort', 'layout', 'caption', 'skip', 'color']),
      exact,
    ),
    scope: 'codes.read',
    effect: 'reads',
    async run({ input, invoke }) {
      const { bytes, type } = await invoke.file('createSheet', { body: input });
      const value = { file: 'labels.pdf', type, bytes: bytes.byteLength };
      return { value, file: { bytes, type, uri: 'scanlog://sheets/labels.pdf' } };
    },
  });
