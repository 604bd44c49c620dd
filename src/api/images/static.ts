import { Type as t } from '@sinclair/typebox';
import { StyleSchema } from '../../../events/style.ts';
import { invalid } from '../../lib/errors.ts';
import { QueueFull } from '../../lib/semaphore.ts';
import type { Proofs } from '../../proof/proofs.ts';
import { titleOf } from '../../qr/content/content.ts';
import { mediaTypes, type QrImage } from '../../qr/image.ts';
import { tooLarge } from '../../qr/placed-logo.ts';
import { lookOf } from '../../qr/style.ts';
import type { RenderedFor, Renderer } from '../../render/renderer.ts';
import { type Operation, operation } from '../http/operation.ts';
import { exact } from '../http/schemas.ts';
import { checkDrawnStyle, refuseFrameTexts, requireArt } from '../qrcodes/check-styles.ts';
import type { Service } from '../service.ts';
import { bodyReader, contentField, textOf } from './content.ts';
import { downloadQuery, imageOptionsOf } from './download-query.ts';
import { imagePolicy, tooManyImages } from './images.ts';

export const NewStaticCode = t.Object(
  {
    content: contentField,
    style: t.Optional(StyleSchema),
    allow_unreadable: t.Optional(
      t.Boolean({
        description:
          'Draws the code even if no decoder reads it because of its logo, frame, gradient or quiet zone. Default: false.',
      }),
    ),
    ...downloadQuery.properties,
  },
  {
    ...exact,
    examples: [
      {
        content: { type: 'wifi', ssid: 'Café guests', password: 'espresso' },
        style: { dotsType: 'rounded' },
        format: 'pdf',
      },
    ],
  },
);

/** The operation that draws codes which contain something else than a short link. */
export const drawStaticCode = ({ sql }: Service, renderer: Renderer, proofs: Proofs): Operation =>
  operation({
    operationId: 'drawStaticCode',
    method: 'POST',
    path: '/v1/static',
    tag: 'Static codes',
    summary: 'Draw a static QR code',
    description:
      'Returns the image of a code that contains a Wi-Fi network, a contact, a text, an e-mail, a phone number, a text message, a place or an event itself. Phones read it without this service, so it can be neither changed nor counted. Nothing is stored. A style that no decoder reads because of its logo, frame, gradient or quiet zone is refused, unless `allow_unreadable` is true.',
    body: NewStaticCode,
    checkBody: bodyReader(NewStaticCode),
    success: {
      status: 200,
      description: 'The image.',
      files: ['image/png', 'image/svg+xml', 'application/pdf', 'application/postscript'],
    },
    errors: ['invalid_request', 'unreadable_style', 'unsupported_characters'],
    async handle({ caller, body, signal }) {
      const { content, style = {}, allow_unreadable = false, ...download } = body;
      const options = imageOptionsOf(download);
      const text = textOf(content, lookOf(style).errorCorrection);
      refuseFrameTexts([{ style }]);
      const logo = await requireArt(sql, caller, style);
      const image = { url: text, style, logo, title: titleOf(content), declaresUtf8: true, ...options };
      const drawn = await draw(renderer, image, { account: caller.account, signal });
      await checkDrawnStyle(proofs, caller, { style, text, logo, allowUnreadable: allow_unreadable });
      return {
        status: 200,
        body: drawn,
        headers: {
          'content-type': mediaTypes[options.format],
          'content-disposition': `attachment; filename="${content.type}.${options.format}"`,
          'content-security-policy': imagePolicy,
        },
      };
    },
  });

/** Not cached: nothing of a static code is kept. Throws 400 for a size or a logo that the symbol has no room for. */
async function draw(renderer: Renderer, image: QrImage, drawnFor: RenderedFor): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await renderer.run('image', () => image, drawnFor);
  } catch (error) {
    if (error instanceof QueueFull) throw tooManyImages();
    if (!(error instanceof RangeError)) throw error;
    const field = error.message === tooLarge ? 'style.logo.size' : 'size';
    const advice = field === 'size' ? '' : ' Lower size or margin of the logo, or shorten the content.';
    throw invalid([{ field, message: `${field} does not fit: ${error.message}.${advice}` }]);
  }
}
