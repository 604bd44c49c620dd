import type { Route } from '../../events/route.ts';
import type { Resolver } from '../../events/targeting/resolver.ts';

/** A route with its `Location` header, which is encoded once and not for every scan. */
export interface KnownRoute extends Route {
  location: string;
  /** Decrypted by the first scan that needs it. In memory only: nothing writes it to disk. */
  visitor_key: Uint8Array | undefined;
  /** Compiled by the first scan that needs it. */
  resolver: Resolver | undefined;
}

const overheadBytes = 600;
/** Parsed, and compiled for the first scan: 2,000 routes with 62 kB of rules each took 240 MB. */
const bytesPerRuleByte = 2;

/** About how much memory a route takes. */
export function bytesOf({ destination_url, location, targeting }: KnownRoute): number {
  const rules = targeting === undefined ? 0 : JSON.stringify(targeting).length;
  return overheadBytes + destination_url.length + location.length + bytesPerRuleByte * rules;
}
