import { type Static, Type as t } from '@sinclair/typebox';
import { type Logo, logoFormats } from '../../../events/logo.ts';
import { oneOf } from '../../../events/one-of.ts';
import { addLogo, findLogo, listLogos, removeLogo } from '../../codes/logos.ts';
import { invalid, messageOf, retryLater } from '../../lib/errors.ts';
import { QueueFull } from '../../lib/semaphore.ts';
import { timeouts } from '../../lib/timeouts.ts';
import type { ReadLogo } from '../../logos/read-logo.ts';
import { writeVectorLogo } from '../../qr/svg.ts';
import { JobTimeout, type RenderedFor, type Renderer } from '../../render/renderer.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { Deleted, pageOf, pageQuery } from '../http/schemas.ts';
import { readUpload, uploadTypes } from '../http/upload.ts';
import { presentPage } from '../qrcodes/present.ts';
import type { Service } from '../service.ts';

const tag = 'Logos';
const params = { id: 'Identifier of the logo, `logo_…`.' };

const fields = {
  id: t.String({ description: 'Identifier of the logo.', examples: ['logo_0VMNcq2hE3kx0dTtWq8LbY'] }),
  width: t.Integer({ description: 'Width of the uploaded image in pixels.', examples: [640] }),
  height: t.Integer({ description: 'Height of the uploaded image in pixels.', examples: [480] }),
  format: oneOf(logoFormats, { description: 'Format of the uploaded image.', examples: ['png'] }),
  bytes: t.Integer({ description: 'Size of the uploaded file.', examples: [20_480] }),
};

export const CreatedLogo = t.Object(fields, { additionalProperties: false });
export const ListedLogo = t.Object(
  {
    ...fields,
    created_at: t.String({
      format: 'date-time',
      description: 'When the logo was uploaded.',
      examples: ['2026-03-01T09:30:00.000Z'],
    }),
  },
  { additionalProperties: false },
);

/** Operations on the images that codes can have in their center. */
export const logoOperations = (service: Service, renderer: Renderer): Operation[] => [
  uploadLogo(service, renderer),
  listOperation(service),
  getLogo(service),
  deleteLogo(service),
];

/** Throws 400 for a file that is not an image that a logo can be. */
async function readUploaded(renderer: Renderer, bytes: Uint8Array, uploadedBy: RenderedFor): Promise<ReadLogo> {
  try {
    return await renderer.run('logo', () => bytes, uploadedBy);
  } catch (error) {
    if (error instanceof QueueFull) throw retryLater('Too many images are being uploaded: try again in a moment.');
    // The largest image takes about 1 s; one that takes longer than the deadline is made to.
    const reason = error instanceof JobTimeout ? 'takes too long to decode' : messageOf(error);
    if (error instanceof RangeError || error instanceof JobTimeout)
      throw invalid([{ field: 'file', message: `The image ${reason}.` }]);
    throw error;
  }
}

const uploadLogo = ({ sql, clock, maxLogos }: Service, renderer: Renderer): Operation =>
  operation({
    operationId: 'uploadLogo',
    method: 'POST',
    path: '/v1/logos',
    tag,
    summary: 'Upload a logo',
    description:
      'A PNG, JPEG, WebP or SVG image of at most 1 MiB and 4,096 × 4,096 pixels, as the body or as `file` of a form; then `style.logo` of a new code can name it. The content decides the format. The image is stored without metadata: pixels as PNG of at most 1,024 × 1,024, SVG as paths. Refused are animated images, CMYK colors, files with other data in them, and SVG with scripts, text, embedded images, filters, masks, patterns or references to other files.',
    upload: uploadTypes,
    readBody: readUpload,
    success: { status: 201, description: 'The new logo.', schema: CreatedLogo },
    errors: ['invalid_request', 'quota_exceeded', 'conflict'],
    answerWithinMs: timeouts.logoMs + 14_000,
    async handle({ caller, body, signal }) {
      const bytes = body as Uint8Array;
      const { format, width, height, art } = await readUploaded(renderer, bytes, { account: caller.account, signal });
      const by = { actor: caller.actor, now: clock() };
      const logo = await addLogo(sql, caller, { format, width, height, bytes: bytes.length, art }, by, maxLogos);
      return json(201, presentLogo(logo));
    },
  });

const listOperation = ({ sql }: Service): Operation =>
  operation({
    operationId: 'listLogos',
    method: 'GET',
    path: '/v1/logos',
    tag,
    summary: 'List logos',
    description: 'Logos of the mode of the key, newest first.',
    query: t.Object(pageQuery({ default: 20, maximum: 100 })),
    success: { status: 200, description: 'One page of logos.', schema: pageOf(ListedLogo) },
    errors: ['invalid_request'],
    async handle({ caller, query: { page = 1, limit = 20 } }) {
      const { logos, total } = await listLogos(sql, caller, { page, limit });
      const items = logos.map((logo) => ({ ...presentLogo(logo), created_at: logo.created_at.toISOString() }));
      return json(200, presentPage(items, { page, limit }, total));
    },
  });

const getLogo = ({ sql }: Service): Operation =>
  operation({
    operationId: 'getLogo',
    method: 'GET',
    path: '/v1/logos/:id',
    tag,
    summary: 'Get the image of a logo',
    description: 'The image as it is stored: PNG, or SVG for a logo that was uploaded as SVG. It never changes.',
    params,
    success: { status: 200, description: 'The image.', files: ['image/png', 'image/svg+xml'], cacheable: true },
    errors: ['not_found'],
    async handle({ caller, params: { id = '' }, headers }) {
      const { logo, art } = await findLogo(sql, caller, id);
      const isRaster = art.kind === 'raster';
      const etag = `"${logo.hash.slice(0, 32)}"`;
      const imageHeaders = {
        etag,
        'cache-control': 'private, max-age=31536000, immutable',
        'content-type': isRaster ? 'image/png' : 'image/svg+xml; charset=utf-8',
        'content-disposition': `inline; filename="${id}.${isRaster ? 'png' : 'svg'}"`,
        // A browser may open it as a document, which may then do nothing.
        'content-security-policy': "default-src 'none'; sandbox",
      };
      if (headers.get('if-none-match') === etag) return { status: 304, body: '', headers: imageHeaders };
      const body = isRaster ? art.png : new TextEncoder().encode(writeVectorLogo(art));
      return { status: 200, body, headers: imageHeaders };
    },
  });

const deleteLogo = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'deleteLogo',
    method: 'DELETE',
    path: '/v1/logos/:id',
    tag,
    summary: 'Delete a logo',
    description: 'Possible while no code has it in its style; deleted codes do not count.',
    params,
    success: { status: 200, description: 'The logo is deleted.', schema: Deleted },
    errors: ['not_found', 'logo_in_use', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      await removeLogo(sql, caller, id, { actor: caller.actor, now: clock() });
      return json(200, { deleted: true, id });
    },
  });

const presentLogo = ({ id, width, height, format, bytes }: Logo): Static<typeof CreatedLogo> => ({
  id,
  width,
  height,
  format,
  bytes,
});
