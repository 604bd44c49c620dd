import type { Scan } from '../../events/scan.ts';
import type { Geo } from '../geo/geo.ts';
import { clientAddress, type TrustedProxies } from '../lib/client-address.ts';
import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { classify } from './device.ts';
import type { KnownRoute, Routes } from './routes.ts';
import { visitorHash } from './visitor.ts';

/** The sources of a scan's facts besides its request. */
export interface ScanSources {
  routes: Routes;
  geo: Geo;
  trustedProxies: TrustedProxies;
  clock: Clock;
}

/** Builds the scan of a request for an active route. It does not contain the client's address or user agent. */
export function scanFacts(route: KnownRoute, headers: Headers, peer: string, sources: ScanSources): Scan {
  const address = clientAddress(peer, headers.get('x-forwarded-for'), sources.trustedProxies);
  const userAgent = headers.get('user-agent') ?? '';
  const { country, region, city } = sources.geo.lookup(address);
  const { device, browser, bot } = classify(userAgent);
  const occurred_at = sources.clock();
  return {
    id: newId('scan', occurred_at.getTime()),
    code: route.code,
    account: route.account,
    mode: route.mode,
    occurred_at,
    country,
    region,
    city,
    device,
    browser,
    is_bot: bot || isPrefetch(headers),
    visitor: visitorHash(sources.routes.visitorKeyOf(route), address, userAgent).toString('hex'),
    revision: route.revision,
  };
}

const purposeHeaders = ['sec-purpose', 'purpose', 'x-purpose'];

/**
 * Whether a browser fetches the link before the user opens it: a prefetch, prerender or preview. The headers vary:
 * `Sec-Purpose: prefetch;prerender`, `Purpose: prefetch`, `X-Purpose: preview`, `X-Moz: prefetch`.
 */
function isPrefetch(headers: Headers): boolean {
  for (const name of purposeHeaders) {
    const value = headers.get(name);
    if (value !== null && /prefetch|preview/i.test(value)) return true;
  }
  return headers.get('x-moz')?.toLowerCase() === 'prefetch';
}
