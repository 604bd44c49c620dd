import { lookup } from 'node:dns/promises';
import { parseAddress } from '../lib/ip-address.ts';
import type { IpRanges } from '../lib/ip-range.ts';
import { mayCall } from '../lib/public-address.ts';

/** Which destinations the operator allows for webhooks. */
export interface Policy {
  allowHttp: boolean;
  /** Non-public addresses that are allowed. */
  allowed: IpRanges;
}

/** Resolves a host name to all its addresses. */
export type Resolve = (name: string) => Promise<string[]>;

export const resolveBySystem: Resolve = async (name) =>
  (await lookup(name, { all: true, order: 'ipv4first' })).map(({ address }) => address);

/** The destination must not be called. The message is shown to the account. */
export class Forbidden extends Error {}
/** The host name could not be resolved. */
export class Unresolved extends Error {}

/** Where webhooks may go, for those who set them. */
export const allowedAddresses =
  'a public address, or to one that the operator of the service allows with WEBHOOK_ALLOWED_CIDRS';

/** Why a URL is invalid ("must …"), checked without resolving it; undefined if it is valid. */
export function faultOfUrl(text: string, { allowHttp }: Policy): string | undefined {
  const scheme = allowHttp
    ? 'https:// or http://'
    : 'https://; the operator of the service can allow http:// with WEBHOOK_ALLOW_HTTP=true';
  if (text.length > 2_048) return 'must have at most 2,048 characters';
  if (!(allowHttp ? /^https?:\/\/[^/\\]/i : /^https:\/\/[^/\\]/i).test(text)) return `must begin with ${scheme}`;
  if (/[\s\p{Cc}\\]/u.test(text) || !text.isWellFormed() || !URL.canParse(text))
    return 'must be a URL with a valid host, such as https://example.com/hooks/scans';
  const { username, password, hash } = new URL(text);
  if (username !== '' || password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return 'must not contain a user name or password; deliveries are signed instead';
  if (hash !== '' || text.includes('#')) return 'must not contain a fragment ("#…"), which is never sent';
  return undefined;
}

/** Resolves a URL to the addresses that may be called, in the order to try them. Throws if there are none. */
export async function vettedAddresses(url: URL, policy: Policy, resolve: Resolve): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAddress = parseAddress(host) !== null;
  const found = isAddress ? [host] : await resolve(host).catch(() => []);
  if (found.length === 0) throw new Unresolved(`The name ${host} could not be resolved.`);
  const vetted = found.filter((address) => mayCall(address, policy.allowed));
  // The message does not name the address, which would reveal names of the operator's network.
  if (vetted.length === 0)
    throw new Forbidden(
      `${host} resolves to an address that webhooks must not call. It must resolve to ${allowedAddresses}.`,
    );
  return vetted;
}

/** The name that the server's certificate must contain; undefined if the host is an address. */
export const nameOf = (url: URL): string | undefined =>
  parseAddress(url.hostname.replace(/^\[|\]$/g, '')) === null ? url.hostname : undefined;
