import type { KeyLimits } from '../../events/key.ts';
import { type Scope, scopes } from '../../events/scopes.ts';
import { clientAddress, type TrustedProxies } from '../lib/client-address.ts';
import { Refusal } from '../lib/errors.ts';
import { type IpRanges, inRanges, isWithin, parseRanges } from '../lib/ip-range.ts';
import { lru } from '../lib/lru.ts';

/** Throws 403 if a key with these limits lacks the scope. */
export function requireScope({ scopes: own }: Pick<KeyLimits, 'scopes'>, scope: Scope): void {
  if (own === null || own.includes(scope)) return;
  throw new Refusal(
    'insufficient_scope',
    `This needs the scope ${scope}, and the API key has only ${own.join(', ')}: use a key with ${scope}.`,
  );
}

/** Throws 403 if a key with the limits `wanted` could do more than one with the limits `own`. */
export function requireWithin(wanted: KeyLimits, own: KeyLimits): void {
  requireScopesWithin(wanted.scopes, own.scopes);
  if (own.expires_at !== null && (wanted.expires_at === null || wanted.expires_at > own.expires_at))
    throw new Refusal(
      'wider_key',
      `This API key expires on ${own.expires_at.toISOString()}: a key that it creates or rotates must not expire later.`,
    );
  if (
    own.allowed_cidrs !== null &&
    !isWithin(rangesOf(wanted.allowed_cidrs ?? everywhere), rangesOf(own.allowed_cidrs))
  )
    throw new Refusal(
      'wider_key',
      `This API key works only from ${own.allowed_cidrs.join(', ')}: a key that it creates or rotates must not work from elsewhere.`,
    );
}

function requireScopesWithin(wanted: KeyLimits['scopes'], own: KeyLimits['scopes']): void {
  if (own === null) return;
  const missing = (wanted ?? scopes).filter((scope) => !own.includes(scope));
  if (missing.length === 0) return;
  const excess = wanted === null ? 'A key without scopes has full access' : `The key would have ${missing.join(', ')}`;
  throw new Refusal(
    'insufficient_scope',
    `${excess}, and this API key has only ${own.join(', ')}: it can create and rotate keys with these scopes only.`,
  );
}

const everywhere = ['0.0.0.0/0', '::/0'];

/** The addresses of a list that was valid when the key was created. */
function rangesOf(cidrs: readonly string[]): IpRanges {
  const ranges = parseRanges(cidrs.join(','));
  if ('error' in ranges) throw new Error(`a stored network is invalid: ${ranges.error}`);
  return ranges;
}

/** Of up to 50 networks each. */
const maxCachedLists = 1_000;

/** Whether clients are in the networks of a key. The networks of a key never change, so they are parsed once. */
export class KeyNetworks {
  readonly #trusted: TrustedProxies;
  readonly #known = lru<string, IpRanges>(maxCachedLists);

  constructor(trusted: TrustedProxies) {
    this.#trusted = trusted;
  }

  /** `key` is an id or hash; false also for a key that was not looked up before. */
  isKnownOutside(key: string, request: Request, peer: string): boolean {
    const ranges = this.#known.get(key);
    return ranges !== undefined && !this.#contain(ranges, request, peer);
  }

  isOutside(
    key: string,
    { allowed_cidrs: cidrs }: Pick<KeyLimits, 'allowed_cidrs'>,
    request: Request,
    peer: string,
  ): boolean {
    if (cidrs === null) return false;
    const ranges = this.#known.get(key) ?? rangesOf(cidrs);
    this.#known.set(key, ranges);
    return !this.#contain(ranges, request, peer);
  }

  #contain(ranges: IpRanges, { headers }: Request, peer: string): boolean {
    return inRanges(ranges, clientAddress(peer, headers.get('x-forwarded-for'), this.#trusted));
  }
}

/** The client is not named: it may be behind a proxy that is not trusted, whose address is none of its business. */
export const addressNotAllowed = () =>
  new Refusal(
    'address_not_allowed',
    'The API key does not work from the network of this client: its `allowed_cidrs` do not contain the address.',
  );
