import { Type as t } from '@sinclair/typebox';
import type { Elysia } from 'elysia';
import type { Code } from '../../events/code.ts';
import { oneOf } from '../../events/one-of.ts';
import { findCode } from '../codes/codes.ts';
import { invalid, notFound, Refusal } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import { QueueFull } from '../lib/semaphore.ts';
import { createImageCache } from '../qr/cache.ts';
import { createDrawing } from '../qr/drawing.ts';
import { defaultSizePx, maxSizePx, minSizePx } from '../qr/layout.ts';
import { etagOf, matchesEtag, mediaTypes, type Picture } from '../qr/picture.ts';
import { type Answer, refusalAnswer, refusalOf } from './answers.ts';
import { type Operation, operation } from './operation.ts';
import type { Service } from './service.ts';
import { queryReader } from './validate.ts';

const query = t.Object({
  format: t.Optional(oneOf(['png', 'svg'], { default: 'png', description: 'Kind of file.' })),
  size: t.Optional(
    t.Integer({
      minimum: minSizePx,
      maximum: maxSizePx,
      default: defaultSizePx,
      description: `Width and height in pixels, ${minSizePx} to ${maxSizePx}.`,
    }),
  ),
});

const year = 'max-age=31536000, immutable';

const tooManyImages = () =>
  new Refusal('unavailable', 'Too many images wait to be drawn: try again in a few seconds.', undefined, {
    'retry-after': '2',
  });

/** A code's picture never changes, so neither does what is said of it; drawn once, it is kept for a while. */
export function createImages({ sql, addresses }: Pick<Service, 'sql' | 'addresses'>) {
  const cache = createImageCache({ maxBytes: 64 * 1024 * 1024 });
  const drawing = createDrawing();

  async function answer(
    { short_code, style }: Pick<Code, 'short_code' | 'style'>,
    { format = 'png', size = defaultSizePx }: Partial<Pick<Picture, 'format' | 'size'>>,
    headers: Headers,
    use: 'download' | 'public',
  ): Promise<Answer> {
    const picture: Picture = { url: `${addresses.shortBaseUrl}/${short_code}`, style, format, size };
    const etag = etagOf(picture);
    const told = {
      etag,
      'cache-control': `${use === 'public' ? 'public' : 'private'}, ${year}`,
      'content-type': mediaTypes[format],
      // The name is the owner's own; the short code is in the picture.
      'content-disposition': `${use === 'public' ? 'inline' : 'attachment'}; filename="${short_code}.${format}"`,
      // An SVG opened by itself is a page: it may load and run nothing.
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    };
    const known = headers.get('if-none-match');
    if (known !== null && matchesEtag(known, etag)) return { status: 304, body: '', headers: told };
    const body = await cache
      .get(etag, () => drawing.draw(picture))
      .catch((error) => {
        // The symbol of a long short link has more modules than a small picture has room for.
        if (error instanceof RangeError)
          throw invalid([{ field: 'size', message: `size is too small: ${error.message}.` }]);
        throw error instanceof QueueFull ? tooManyImages() : error;
      });
    return { status: 200, body, headers: told };
  }

  const download: Operation = operation({
    method: 'GET',
    path: '/v1/qrcodes/:id/download',
    tag: 'QR codes',
    summary: 'Download the QR image',
    description:
      'The image file itself, named after the short code. It never changes: keep it, or send its `ETag` as `If-None-Match`.',
    params: { id: 'Identifier of the code, `qr_…`.' },
    query,
    success: { status: 200, description: 'The image.', files: ['image/png', 'image/svg+xml'], keepable: true },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id = '' }, query: asked, headers }) {
      const code = await findCode(sql, caller, id);
      if (code === undefined) throw notFound('QR code');
      return answer(code, asked, headers, 'download');
    },
  });

  /** The picture that anybody may see who has its address. */
  const readQuery = queryReader(query);
  async function publicImage(id: string, request: Request): Promise<Answer> {
    const [code] = isId('qr', id)
      ? await sql<Code[]>`SELECT short_code, style, status FROM codes WHERE id = ${id}`
      : [];
    if (code === undefined) throw notFound('image');
    if (code.status === 'deleted') throw new Refusal('gone', 'The QR code of this image was deleted.');
    return answer(code, readQuery(request.url), request.headers, 'public');
  }

  return {
    download,
    close: drawing.close,
    servePublic(app: Elysia, log: Logger): void {
      const respond = async ({ request, params }: { request: Request; params: { id: string | null } }) => {
        const {
          status,
          body,
          headers = {},
        } = await publicImage(params.id ?? '', request).catch((error) => refusalAnswer(refusalOf(error, log)));
        const type = { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' };
        return new Response(status === 304 ? null : body, { status, headers: { ...type, ...headers } });
      };
      const hidden = { detail: { hide: true } };
      app.get('/images/:id/public', respond, hidden);
      app.route('HEAD', '/images/:id/public', respond, hidden);
    },
  };
}
