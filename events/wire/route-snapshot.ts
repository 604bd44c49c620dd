import { Buffer } from 'node:buffer';
import type { Route } from '../route.ts';
import { refuseNewer } from './newer-version.ts';

/**
 * A snapshot of routes: a line of JSON per route. Version 1 has only these; from version 2 on, the first line says which
 * version it is. Version 3 has `disabled`. Up to version 3, `visitor_key` is the plain key in hex; from version 4 on,
 * `sealed_key` is the encrypted one, and the first line has the fingerprint of the SECRET_KEY that opens it.
 */
const snapshotVersion = 4;

/** What the keys in a snapshot are encrypted with; passed in, since encrypting takes randomness. */
export interface KeySeal {
  /** In hex. */
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

/** Field by field: an edge keeps more in its routes, the decrypted key included, which must not reach the disk. */
export const encodeRoute = (route: Route): string => {
  const { code, account, mode, short_code, destination_url, revision, status, disabled, version, sealed_key } = route;
  return JSON.stringify({
    ...{ code, account, mode, short_code, destination_url, revision, status, disabled, version },
    sealed_key: Buffer.from(sealed_key).toString('hex'),
  });
};

/**
 * Leaves out lines that are damaged. Throws where the first one is, `NewerVersion` for a newer version, and
 * `OtherSecretKey` where the keys could not be opened.
 */
export function decodeSnapshot(text: string, keys: KeySeal): Route[] {
  const lines = text.split('\n');
  const head: { snapshot?: number; secret_key?: string } = JSON.parse(lines[0] ?? '');
  const { snapshot: version = 1, secret_key } = head;
  refuseNewer('A snapshot of routes', version, snapshotVersion);
  if (version >= 4 && secret_key !== keys.fingerprint) throw new OtherSecretKey();
  return (version === 1 ? lines : lines.slice(1)).flatMap((line) => routeOf(line, keys));
}

function routeOf(line: string, { seal }: KeySeal): Route[] {
  try {
    const { visitor_key, sealed_key, ...route } = JSON.parse(line);
    const isPlain = sealed_key === undefined;
    const key: Uint8Array = Buffer.from(isPlain ? visitor_key : sealed_key, 'hex');
    // A deleted code has none.
    return [{ disabled: false, ...route, sealed_key: isPlain && key.length > 0 ? seal(key, route.code) : key }];
  } catch {
    return [];
  }
}
