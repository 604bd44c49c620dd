import { codeNotFound, findCode } from '../codes/codes.ts';
import { invalid, retryLater } from '../lib/errors.ts';
import { QueueFull } from '../lib/semaphore.ts';
import { problemWithShortCode } from '../lib/short-code.ts';
import type { Proof } from '../proof/proof.ts';
import type { Proofs } from '../proof/proofs.ts';
import { json } from './answers.ts';
import { type Operation, operation } from './operation.ts';
import { NewPreflight, Preflight } from './preflight-schemas.ts';
import type { Service } from './service.ts';

const tag = 'Print';

/** Like every generated short code. */
const defaultShortCode = 'aB3xY7z';

const meaning =
  'The picture is drawn 10, 15, 20 and 30 mm wide at 300 dpi, and read back by independent decoders: as printed, and as a phone sees it, out of focus, at an angle, in low light and in a compressed photo.';

/** Operations that find out whether a picture scans. */
export const preflightOperations = (service: Service, proofs: Proofs): Operation[] => [
  proofCode(service, proofs),
  proofStyle(service, proofs),
];

const proofCode = ({ sql, addresses }: Service, proofs: Proofs): Operation =>
  operation({
    operationId: 'preflightQrCode',
    method: 'GET',
    path: '/v1/qrcodes/:id/preflight',
    tag,
    summary: 'Check whether a QR code scans',
    description: `${meaning} The picture never changes, and neither does the result.`,
    params: { id: 'Identifier of the code, `qr_…`.' },
    success: { status: 200, description: 'What was read.', schema: Preflight },
    errors: ['not_found'],
    async handle({ caller, params: { id = '' } }) {
      const code = await findCode(sql, caller, id);
      if (code === undefined) throw await codeNotFound(sql, caller, id);
      return json(200, await proofOf(proofs, code.style, `${addresses.shortBaseUrl}/${code.short_code}`));
    },
  });

const proofStyle = ({ addresses }: Service, proofs: Proofs): Operation =>
  operation({
    operationId: 'preflightStyle',
    method: 'POST',
    path: '/v1/preflight',
    tag,
    summary: 'Check whether a style scans',
    description: `For a style that no code has yet; nothing is created. ${meaning}`,
    body: NewPreflight,
    success: { status: 200, description: 'What was read.', schema: Preflight },
    errors: ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
    async handle({ body: { style, short_code = defaultShortCode } }) {
      const problem = problemWithShortCode(short_code);
      if (problem !== undefined) throw invalid([{ field: 'short_code', message: `short_code ${problem}.` }]);
      return json(200, await proofOf(proofs, style, `${addresses.shortBaseUrl}/${short_code}`));
    },
  });

/** Throws 503 if too many proofs are waiting. */
export async function proofOf(proofs: Proofs, ...[style, url]: Parameters<Proofs['of']>): Promise<Proof> {
  try {
    return await proofs.of(style, url);
  } catch (error) {
    if (error instanceof QueueFull)
      throw retryLater('Too many styles are being checked: try again in a few seconds.', 2);
    throw error;
  }
}
