import { faultOfShortCode } from '../../events/fields.ts';
import type { Scan } from '../../events/scan.ts';
import { clientAddress, type TrustedProxies } from '../lib/client-address.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { inTime } from '../lib/in-time.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import type { Bans } from './bans.ts';
import { classify } from './device.ts';
import type { Geo } from './geo.ts';
import { noticeResponse, notices } from './pages.ts';
import type { Recorder } from './recorder.ts';
import type { KnownRoute, Routes } from './routes.ts';
import { visitorHash } from './visitor.ts';

interface RedirectOptions {
  routes: Routes;
  bans: Bans;
  recorder: Recorder;
  geo: Geo;
  trustedProxies: TrustedProxies;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

export type Redirect = (request: Request, shortCode: string, peer: string) => Promise<Response>;

/** How long Postgres may take to tell a route; less where an earlier run knew it. */
const patienceMs = { unknown: 2_000, earlier: 250 };
/** After it did not answer, an earlier run is believed at once for so long. */
const awayMs = 1_000;
const purposeHeaders = ['sec-purpose', 'purpose', 'x-purpose'];

/**
 * Whether a browser fetches the link before anyone opened it: a prefetch, prerender or preview. The values vary:
 * `Sec-Purpose: prefetch;prerender`, `Purpose: prefetch`, `X-Purpose: preview`, `X-Moz: prefetch`.
 */
export function isPrefetch(headers: Headers): boolean {
  for (const name of purposeHeaders) {
    const value = headers.get(name);
    if (value !== null && /prefetch|preview/i.test(value)) return true;
  }
  return headers.get('x-moz')?.toLowerCase() === 'prefetch';
}

/** Answers a request for a short link: finds the route, records the scan, and then sends the visitor on. */
export function createRedirect(options: RedirectOptions): Redirect {
  const { routes, bans, recorder, geo, trustedProxies, clock, log, metrics } = options;
  let awayUntil = 0;

  async function load(shortCode: string): Promise<KnownRoute | 'unknown'> {
    // What can be no short code is asked of nobody, and remembered by nobody.
    if (faultOfShortCode(shortCode) !== undefined) return 'unknown';
    const earlier = routes.earlier(shortCode);
    if (earlier !== undefined && performance.now() < awayUntil) return earlier;
    try {
      const ms = earlier === undefined ? patienceMs.unknown : patienceMs.earlier;
      const loading = Promise.all([routes.load(shortCode), bans.loaded()]);
      const [route] = await inTime(loading, ms, () => new Error(`Postgres did not answer within ${ms} ms`));
      return route;
    } catch (error) {
      awayUntil = performance.now() + awayMs;
      // Asked once more: it follows changes, and may not be believed any longer.
      const still = routes.earlier(shortCode);
      if (still === undefined) throw error;
      return still;
    }
  }

  function scanOf(route: KnownRoute, headers: Headers, peer: string): Scan {
    const address = clientAddress(peer, headers.get('x-forwarded-for'), trustedProxies);
    const userAgent = headers.get('user-agent') ?? '';
    const { country, region, city } = geo.lookup(address);
    const { device, browser, bot } = classify(userAgent);
    const occurred_at = clock();
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
      visitor: visitorHash(routes.visitorKeyOf(route), address, userAgent).toString('hex'),
      revision: route.revision,
    };
  }

  const notice = (reason: keyof typeof notices, { headers }: Request): Response => {
    metrics.redirects.count(reason);
    return noticeResponse(notices[reason], headers);
  };

  const sendOn = ({ location }: KnownRoute, requestId: string): Response => {
    metrics.redirects.count('redirected');
    return new Response(null, {
      status: 302,
      headers: {
        location,
        'cache-control': 'private, no-store',
        'x-robots-tag': 'noindex',
        'x-request-id': requestId,
      },
    });
  };

  async function follow(route: KnownRoute | 'unknown', request: Request, peer: string): Promise<Response> {
    if (route === 'unknown') return notice('unknown', request);
    if (route.status !== 'deleted' && bans.covers(route)) return notice('disabled', request);
    if (route.status !== 'active') return notice(route.status, request);
    const { headers } = request;
    if (request.method === 'HEAD') return sendOn(route, requestIdOf(headers));
    const scan = scanOf(route, headers, peer);
    await recorder.record(scan);
    return sendOn(route, headers.has('x-request-id') ? requestIdOf(headers) : scan.id);
  }

  return async (request, shortCode, peer) => {
    const started = performance.now();
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD') return notice('method', request);
      return await follow(routes.get(shortCode) ?? (await load(shortCode)), request, peer);
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'redirect not possible now');
      return notice('busy', request);
    } finally {
      metrics.redirectSeconds.observe((performance.now() - started) / 1000);
    }
  };
}
