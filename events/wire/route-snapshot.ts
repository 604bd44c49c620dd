import { Buffer } from 'node:buffer';
import type { Route } from '../route.ts';
import { refuseNewer } from './newer-version.ts';

/**
 * A snapshot of routes: one line of JSON per route and alias.
 *
 * | version | change |
 * |---|---|
 * | 1 | only routes, with the plain `visitor_key` in hex |
 * | 2 | the first line has the version |
 * | 3 | routes have `disabled` |
 * | 4 | `sealed_key` is the encrypted key, and the first line has the fingerprint of its SECRET_KEY |
 * | 5 | lines `{"alias", "short_code"}` after the routes |
 * | 6 | routes may have `targeting` |
 * | 7 | `short_code` is a link: a custom domain may be before it; routes may have `password_hash` |
 */
const snapshotVersion = 7;

/** Encrypts visitor keys; passed in, because encryption needs randomness and events/ is pure. */
export interface KeySeal {
  /** The fingerprint of the SECRET_KEY in hex. */
  fingerprint: string;
  seal(key: Uint8Array, code: string): Uint8Array;
}

/** The keys in the snapshot are encrypted with another SECRET_KEY, as after `./scanlog secret rotate`. */
export class OtherSecretKey extends Error {
  constructor() {
    super('its visitor keys are encrypted with another SECRET_KEY');
  }
}

export const snapshotHead = (fingerprint: string): string =>
  JSON.stringify({ snapshot: snapshotVersion, secret_key: fingerprint });

/** Lists fields explicitly: the edge's routes also have the decrypted key, which must not be written to disk. */
export const encodeRoute = (route: Route): string => {
  const { code, account, mode, short_code, destination_url, revision, status, disabled, version, sealed_key } = route;
  return JSON.stringify({
    code,
    account,
    mode,
    short_code,
    destination_url,
    revision,
    status,
    disabled,
    version,
    targeting: route.targeting,
    password_hash: route.password_hash,
    sealed_key: Buffer.from(sealed_key).toString('hex'),
  });
};

export const encodeAlias = ([alias, short_code]: [string, string]): string => JSON.stringify({ alias, short_code });

/**
 * Skips damaged lines. Throws if the first line is damaged, `NewerVersion` for a newer version, and `OtherSecretKey` if
 * the keys are encrypted with another SECRET_KEY.
 */
export function decodeSnapshot(text: string, keys: KeySeal): { routes: Route[]; aliases: [string, string][] } {
  const lines = text.split('\n');
  const head: { snapshot?: number; secret_key?: string } = JSON.parse(lines[0] ?? '');
  const { snapshot: version = 1, secret_key } = head;
  refuseNewer('A snapshot of routes', version, snapshotVersion);
  if (version >= 4 && secret_key !== keys.fingerprint) throw new OtherSecretKey();
  const routes: Route[] = [];
  const aliases: [string, string][] = [];
  for (const line of version === 1 ? lines : lines.slice(1)) {
    if (line.startsWith('{"alias":')) aliases.push(...aliasOf(line));
    else routes.push(...routeOf(line, keys));
  }
  return { routes, aliases };
}

function aliasOf(line: string): [string, string][] {
  try {
    const { alias, short_code } = JSON.parse(line);
    return [[alias, short_code]];
  } catch {
    return [];
  }
}

function routeOf(line: string, { seal }: KeySeal): Route[] {
  try {
    const { visitor_key, sealed_key, ...route } = JSON.parse(line);
    const isPlain = sealed_key === undefined;
    const key: Uint8Array = Buffer.from(isPlain ? visitor_key : sealed_key, 'hex');
    // The key of a deleted code is empty.
    return [{ disabled: false, ...route, sealed_key: isPlain && key.length > 0 ? seal(key, route.code) : key }];
  } catch {
    return [];
  }
}
