import { linkOf, urlOfLink } from '../../../events/link.ts';
import type { Owner } from '../../../events/owner.ts';
import type { Style } from '../../../events/style.ts';
import type { CodeRequest } from '../../codes/create.ts';
import { findLogo } from '../../codes/logos.ts';
import { type FieldError, invalid, Refusal } from '../../lib/errors.ts';
import type { Sql } from '../../lib/sql.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import type { Proof, Reason } from '../../proof/proof.ts';
import type { Proofs } from '../../proof/proofs.ts';
import frameFont from '../../qr/frame-font.json' with { type: 'json' };
import type { LogoArt } from '../../qr/logo-art.ts';
import { describeCharacters } from '../../qr/scripts.ts';
import { missingCharacters } from '../../qr/text.ts';
import { isUnfinished } from '../../render/renderer.ts';
import type { Service } from '../service.ts';
import { problemWithLogo } from './check-logos.ts';

/** Fields that can make a code unreadable whose colors and shapes alone are not, and for which a create is refused. */
const riskyFields = ['logo', 'frame', 'dotsGradient', 'backgroundGradient', 'quietZone'] as const;

const isRisky = (style: Style) => riskyFields.some((field) => style[field] !== undefined);

/** A bulk create with more different styles than this has warnings for the others instead. */
const maxProofs = 16;

const notProofed: Reason = {
  field: 'style',
  message: 'Whether it scans was not checked, because the service is busy: see GET /v1/qrcodes/:id/preflight.',
};

/** A code to create, and whether it may be unreadable. */
type Styled = Pick<CodeRequest, 'style' | 'short_code' | 'domain'> & { allowUnreadable: boolean };

/** Like every generated short code. */
const generatedShortCode = 'aB3xY7z';

/**
 * Proofs the styles that have more than colors and shapes: returns the reasons of each request, undefined for those that
 * need no proof. Throws 400 `unreadable_style` for every one that no decoder reads because of these fields, and before that 422
 * `unsupported_characters` for every frame whose text cannot be drawn.
 */
export async function checkStyles(
  { sql, addresses: { shortBaseUrl } }: Pick<Service, 'sql' | 'addresses'>,
  proofs: Proofs,
  owner: Owner,
  requests: readonly Styled[],
): Promise<(Reason[] | undefined)[]> {
  refuseFrameTexts(requests.map(({ style = {} }, index) => ({ index, style })));
  const deadline = performance.now() + timeouts.proofMs;
  const findArt = artFinder(sql, owner);
  const known = new Map<string, Proof | undefined>();
  const prove = async (style: Style, url: string): Promise<Proof | undefined> => {
    const key = JSON.stringify([style, url.length]);
    if (!known.has(key)) {
      const logo = await findArt(style);
      const leftMs = deadline - performance.now();
      const canProof = known.size < maxProofs && leftMs > 0;
      known.set(key, canProof ? await tryProof(proofs, leftMs, owner.account, style, url, logo) : undefined);
    }
    return known.get(key);
  };
  const errors: FieldError[] = [];
  const reasons: (Reason[] | undefined)[] = [];
  for (const [index, { style = {}, short_code = generatedShortCode, domain, allowUnreadable }] of requests.entries()) {
    if (!isRisky(style)) {
      reasons.push(undefined);
      continue;
    }
    const url = urlOfLink(linkOf(domain, short_code), shortBaseUrl);
    const art = await findArt(style);
    // The transaction refuses it, and says why.
    if (style.logo !== undefined && (art === undefined || problemWithLogo(url, style, art) !== undefined)) {
      reasons.push(undefined);
      continue;
    }
    const proof = await prove(style, url);
    reasons.push(proof?.reasons ?? [notProofed]);
    if (proof?.readable === false && !allowUnreadable)
      errors.push(...(await blame(style, (other) => prove(other, url))).map((error) => ({ index, ...error })));
  }
  const [first] = errors;
  if (first !== undefined) throw new Refusal('unreadable_style', first.message, errors);
  return reasons;
}

/** Throws 422 for frames with characters that their font lacks, which would be printed as empty boxes. */
export function refuseFrameTexts(styles: { index?: number; style: Style }[]): void {
  const errors = styles.flatMap(({ style: { frame }, ...place }): FieldError[] => {
    const missing = missingCharacters(
      frame === undefined || frame.type === 'none' ? '' : (frame.text ?? ''),
      frameFont,
    );
    if (missing.length === 0) return [];
    const message = `style.frame.text: frames have no ${describeCharacters(missing)}, only Latin, Greek and Cyrillic letters.`;
    return [{ ...place, field: 'style.frame.text', message }];
  });
  const [first] = errors;
  if (first !== undefined) throw new Refusal('unsupported_characters', first.message, errors);
}

/** Reads each logo once. */
function artFinder(sql: Sql, owner: Owner): (style: Style) => Promise<LogoArt | undefined> {
  const arts = new Map<string, Promise<LogoArt | undefined>>();
  return (style) => {
    const id = style.logo?.id ?? '';
    const art = arts.get(id) ?? artOf(sql, owner, style);
    arts.set(id, art);
    return art;
  };
}

/** The image of a style's logo; undefined if it has none, or the owner has no such logo. */
export async function artOf(sql: Sql, owner: Owner, { logo }: Style): Promise<LogoArt | undefined> {
  if (logo === undefined) return undefined;
  return findLogo(sql, owner, logo.id).then(
    ({ art }) => art,
    (error) => {
      if (error instanceof Refusal && error.code === 'not_found') return undefined;
      throw error;
    },
  );
}

/**
 * Throws as `checkStyles` does for an image that was drawn already, and whose text is the content of a static code. One that
 * cannot be proofed now is not refused.
 */
export async function checkDrawnStyle(
  proofs: Proofs,
  { account }: Owner,
  {
    style,
    text,
    logo,
    allowUnreadable,
  }: { style: Style; text: string; logo: LogoArt | undefined; allowUnreadable: boolean },
): Promise<void> {
  if (allowUnreadable || !isRisky(style)) return;
  const deadline = performance.now() + timeouts.proofMs;
  const prove = async (other: Style) => {
    const leftMs = deadline - performance.now();
    const art = other.logo === undefined ? undefined : logo;
    return leftMs > 0 ? tryProof(proofs, leftMs, account, other, text, art, 'content') : undefined;
  };
  if ((await prove(style))?.readable !== false) return;
  const errors = await blame(style, prove);
  const [first] = errors;
  if (first !== undefined) throw new Refusal('unreadable_style', first.message, errors);
}

/** As `artOf`; throws 400 if the owner has no such logo. */
export async function requireArt(sql: Sql, owner: Owner, style: Style): Promise<LogoArt | undefined> {
  const art = await artOf(sql, owner, style);
  if (style.logo !== undefined && art === undefined)
    throw invalid([{ field: 'style.logo.id', message: `style.logo.id: there is no logo ${style.logo.id}.` }]);
  return art;
}

async function tryProof(
  proofs: Proofs,
  timeoutMs: number,
  ...request: Parameters<Proofs['of']>
): Promise<Proof | undefined> {
  try {
    return await withTimeout(proofs.of(...request), timeoutMs, () => undefined);
  } catch (error) {
    if (isUnfinished(error)) return undefined;
    throw error;
  }
}

/** The fields without which an unreadable style is readable; none if its colors and shapes alone make it unreadable. */
async function blame(style: Style, prove: (style: Style) => Promise<Proof | undefined>): Promise<FieldError[]> {
  const given = riskyFields.filter((field) => style[field] !== undefined);
  const plain = await prove(without(style, given));
  if (plain?.readable !== true) return [];
  const guilty: string[] = [];
  for (const field of given) if ((await prove(without(style, [field])))?.readable) guilty.push(field);
  return (guilty.length > 0 ? guilty : given).map((field) => ({
    field: `style.${field}`,
    message: `No decoder reads the code with this style.${field}: change it, or send "allow_unreadable": true.`,
  }));
}

function without(style: Style, fields: readonly string[]): Style {
  return Object.fromEntries(Object.entries(style).filter(([field]) => !fields.includes(field)));
}
