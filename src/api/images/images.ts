import { Type as t } from '@sinclair/typebox';
import type { Elysia } from 'elysia';
import type { Code } from '../../../events/code.ts';
import { shortCodeOf, urlOfLink } from '../../../events/link.ts';
import { oneOf } from '../../../events/one-of.ts';
import { codeNotFound, findCode } from '../../codes/codes.ts';
import { findArt } from '../../codes/logos.ts';
import { clientAddress, type TrustedProxies } from '../../lib/client-address.ts';
import { invalid, notFound, Refusal, retryLater } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { subscriberNetwork } from '../../lib/ip-address.ts';
import { LimitPerKey } from '../../lib/limit-per-key.ts';
import type { Logger } from '../../lib/logger.ts';
import { QueueFull } from '../../lib/semaphore.ts';
import { createImageCache } from '../../qr/cache.ts';
import { etagOf, matchesEtag, mediaTypes, type QrImage } from '../../qr/image.ts';
import { defaultSizePx } from '../../qr/layout.ts';
import type { RenderedFor, Renderer } from '../../render/renderer.ts';
import { type Operation, operation } from '../http/operation.ts';
import { type ApiResponse, refusalOf, refusalResponse } from '../http/responses.ts';
import type { Context } from '../http/traced.ts';
import { queryReader } from '../http/validate.ts';
import type { Service } from '../service.ts';
import { downloadQuery, type ImageOptions, imageOptionsOf, sizeQuery } from './download-query.ts';

const publicQuery = t.Object({
  format: t.Optional(oneOf(['png', 'svg'], { default: 'png', description: 'File format.' })),
  size: sizeQuery,
});

/** A browser opens an SVG as a document: it may load and run nothing but the logo in it. */
export const imagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const forOneYear = 'max-age=31536000, immutable';

export const tooManyImages = () => retryLater('Too many images are being drawn: try again in a few seconds.', 2);

/** Public images that one client waits for: a page may show this many. */
const maxPerClient = 64;

type Drawn = Pick<Code, 'short_code' | 'style'>;

type PublicContext = Pick<Context, 'request' | 'server'> & { params: { id: string | null } };

/** An image is downloaded with an API key, or publicly by its URL. */
type Use = 'download' | 'public';

const headersOf = (shortCode: string, format: QrImage['format'], etag: string, use: Use) => ({
  etag,
  'cache-control': `${use === 'public' ? 'public' : 'private'}, ${forOneYear}`,
  'content-type': mediaTypes[format],
  // Not the name of the code, which only its owner may see; the short code is in the image anyway.
  'content-disposition': `${use === 'public' ? 'inline' : 'attachment'}; filename="${shortCode}.${format}"`,
  'content-security-policy': imagePolicy,
});

/** Serves the images of codes. An image never changes, so clients may cache it, and drawn images are cached here. */
export function createImages({ sql, addresses }: Pick<Service, 'sql' | 'addresses'>, renderer: Pick<Renderer, 'run'>) {
  const cache = createImageCache({ maxBytes: 64 * 1024 * 1024 });

  const imageOf = ({ short_code, style }: Drawn, options: ImageOptions): QrImage => {
    return { url: urlOfLink(short_code, addresses.shortBaseUrl), style, ...options };
  };

  const withLogo = async (image: QrImage): Promise<QrImage> => {
    const id = image.style.logo?.id;
    return id === undefined ? image : { ...image, logo: await findArt(sql, id) };
  };

  const draw = (image: QrImage, { account, isPublic = false, signal }: RenderedFor) =>
    cache
      .get(
        etagOf(image),
        (unused) => renderer.run('image', () => withLogo(image), { account, isPublic, signal: unused }),
        signal,
      )
      .catch((error) => {
        // The QR code of a long short link may have more modules than `size` has pixels.
        if (error instanceof RangeError)
          throw invalid([{ field: 'size', message: `size is too small: ${error.message}.` }]);
        throw error instanceof QueueFull ? tooManyImages() : error;
      });

  async function answer(
    code: Drawn,
    options: ImageOptions,
    headers: Headers,
    use: Use,
    drawnFor: RenderedFor,
  ): Promise<ApiResponse> {
    const image = imageOf(code, options);
    const etag = etagOf(image);
    const imageHeaders = headersOf(shortCodeOf(code.short_code), options.format, etag, use);
    const cached = headers.get('if-none-match');
    if (cached !== null && matchesEtag(cached, etag)) return { status: 304, body: '', headers: imageHeaders };
    return { status: 200, body: await draw(image, drawnFor), headers: imageHeaders };
  }

  const download: Operation = operation({
    operationId: 'downloadQrCode',
    method: 'GET',
    path: '/v1/qrcodes/:id/download',
    tag: 'QR codes',
    summary: 'Download the QR image',
    description:
      'Returns the image file, named after the short code: pixels (png), or vectors for the web (svg) and for print (pdf, eps). The image never changes: cache it, or send its `ETag` as `If-None-Match`.',
    params: { id: 'Identifier of the code, `qr_…`.' },
    query: downloadQuery,
    success: {
      status: 200,
      description: 'The image.',
      files: ['image/png', 'image/svg+xml', 'application/pdf', 'application/postscript'],
      cacheable: true,
    },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, params: { id = '' }, query, headers, signal }) {
      const options = imageOptionsOf(query);
      const code = await findCode(sql, caller, id);
      if (code === undefined) throw await codeNotFound(sql, caller, id);
      return answer(code, options, headers, 'download', { account: caller.account, signal });
    },
  });

  // An image URL in a page may carry parameters of others, such as one that defeats caches.
  const readQuery = queryReader(publicQuery, 'any');

  /** Needs no key: the id in the URL is enough. */
  async function publicImage(id: string, request: Request): Promise<ApiResponse> {
    const [code] = isId('qr', id)
      ? await sql<Code[]>`SELECT short_code, style, status, account FROM codes WHERE id = ${id}`
      : [];
    if (code === undefined) throw notFound('image');
    if (code.status === 'deleted') throw new Refusal('gone', 'The QR code of this image was deleted.');
    const { format = 'png', size = defaultSizePx } = readQuery(request.url);
    const drawnFor = { account: code.account, isPublic: true, signal: request.signal };
    return answer(code, { format, size }, request.headers, 'public', drawnFor);
  }

  return {
    download,
    /** The image of a code, as `download` returns it. */
    drawImage: (code: Drawn, options: ImageOptions, drawnFor: RenderedFor) => draw(imageOf(code, options), drawnFor),
    servePublic(app: Elysia, { log, trustedProxies }: { log: Logger; trustedProxies: TrustedProxies }): void {
      const clients = new LimitPerKey(maxPerClient, tooManyImages);
      const respond = async ({ request, params, server }: PublicContext) => {
        const peer = server?.requestIP(request)?.address ?? '';
        const address = clientAddress(peer, request.headers.get('x-forwarded-for'), trustedProxies);
        const client = Buffer.from(subscriberNetwork(address)).toString('base64');
        const {
          status,
          body,
          headers = {},
        } = await clients
          .run(client, () => publicImage(params.id ?? '', request))
          .catch((error) => refusalResponse(refusalOf(error, log)));
        const type = { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' };
        return new Response(status === 304 ? null : body, { status, headers: { ...type, ...headers } });
      };
      app.get('/images/:id/public', respond);
      app.route('HEAD', '/images/:id/public', respond);
    },
  };
}
