import { urlOfLink } from '../../../events/link.ts';
import { problemWithShortCode } from '../../../events/reserved-words.ts';
import type { Style } from '../../../events/style.ts';
import { codeNotFound, findCode } from '../../codes/codes.ts';
import { invalid, retryLater } from '../../lib/errors.ts';
import { QueueFull } from '../../lib/semaphore.ts';
import { timeouts } from '../../lib/timeouts.ts';
import type { Proof, ProofSubject } from '../../proof/proof.ts';
import type { Proofs } from '../../proof/proofs.ts';
import type { Content } from '../../qr/content/schemas.ts';
import { lookOf } from '../../qr/style.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { artOf, refuseFrameTexts, requireArt } from '../qrcodes/check-styles.ts';
import type { Service } from '../service.ts';
import { bodyReader, textOf } from './content.ts';
import { NewPreflight, Preflight } from './preflight-schemas.ts';

const tag = 'Print';

/** Like every generated short code. */
const defaultShortCode = 'aB3xY7z';

const meaning =
  'The image is drawn 10, 15, 20 and 30 mm wide at 300 dpi, and read back by independent decoders: as printed, and as a phone sees it, out of focus, at an angle, in low light and in a compressed photo.';

/** Operations that find out whether an image scans. */
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
    description: `${meaning} The image never changes, and neither does the result.`,
    params: { id: 'Identifier of the code, `qr_…`.' },
    success: { status: 200, description: 'What was read.', schema: Preflight },
    answerWithinMs: timeouts.preflightMs,
    errors: ['not_found'],
    async handle({ caller, params: { id = '' } }) {
      const code = await findCode(sql, caller, id);
      if (code === undefined) throw await codeNotFound(sql, caller, id);
      const logo = await artOf(sql, caller, code.style);
      return json(
        200,
        await proofOf(proofs, caller.account, code.style, urlOfLink(code.short_code, addresses.shortBaseUrl), logo),
      );
    },
  });

const proofStyle = ({ sql, addresses }: Service, proofs: Proofs): Operation =>
  operation({
    operationId: 'preflightStyle',
    method: 'POST',
    path: '/v1/preflight',
    tag,
    summary: 'Check whether a style scans',
    description: `For a style that no code has yet, and a short link or the \`content\` of a static code; nothing is created. ${meaning}`,
    body: NewPreflight,
    checkBody: bodyReader(NewPreflight),
    success: { status: 200, description: 'What was read.', schema: Preflight },
    answerWithinMs: timeouts.preflightMs,
    errors: ['invalid_request', 'unsupported_characters'],
    async handle({ caller, body: { style, short_code, content } }) {
      const { text, about } = subjectOf(style, short_code, content, addresses.shortBaseUrl);
      refuseFrameTexts([{ style }]);
      const logo = await requireArt(sql, caller, style);
      return json(200, await proofOf(proofs, caller.account, style, text, logo, about));
    },
  });

/** What the symbol contains: a short link, or the content of a static code. Throws 400 if it can contain neither. */
function subjectOf(
  style: Style,
  shortCode: string | undefined,
  content: Content | undefined,
  shortBaseUrl: string,
): { text: string; about: ProofSubject } {
  if (content !== undefined) {
    if (shortCode !== undefined)
      throw invalid([{ field: 'content', message: 'content and short_code cannot be given together.' }]);
    return { text: textOf(content, lookOf(style).errorCorrection), about: 'content' };
  }
  const problem = shortCode === undefined ? undefined : problemWithShortCode(shortCode);
  if (problem !== undefined) throw invalid([{ field: 'short_code', message: `short_code ${problem}.` }]);
  return { text: `${shortBaseUrl}/${shortCode ?? defaultShortCode}`, about: 'link' };
}

/** Throws 503 if too many proofs are waiting. */
async function proofOf(proofs: Proofs, ...request: Parameters<Proofs['of']>): Promise<Proof> {
  try {
    return await proofs.of(...request);
  } catch (error) {
    if (error instanceof QueueFull)
      throw retryLater('Too many styles are being checked: try again in a few seconds.', 2);
    throw error;
  }
}
