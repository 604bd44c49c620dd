import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import type { Bans } from './bans.ts';
import type { Brands } from './brands.ts';
import { inactiveReason } from './inactive.ts';
import type { LimitedRecorder } from './limited-recorder.ts';
import { type Brand, type Drop, type Notice, noticeResponse, notices } from './pages.ts';
import type { Recorder } from './recorder.ts';
import { RouteLookup } from './route-lookup.ts';
import type { KnownRoute } from './routes.ts';
import { type ScanSources, scanFacts } from './scan-facts.ts';
import { TargetedRoutes } from './targeted-routes.ts';

interface RedirectOptions {
  sources: ScanSources;
  bans: Bans;
  recorder: Pick<Recorder, 'record'>;
  limited: Pick<LimitedRecorder, 'record'>;
  brands: Pick<Brands, 'of'>;
  log: Logger;
  metrics: Metrics;
}

/**
 * Answers requests for short links. The steps of a scan: method, route, status, facts, record, redirect. Each of the first
 * three can drop the request, and a failure of any step drops it as `busy`.
 */
export class Redirector {
  readonly #sources: ScanSources;
  readonly #bans: Bans;
  readonly #recorder: Pick<Recorder, 'record'>;
  readonly #brands: Pick<Brands, 'of'>;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #lookup: RouteLookup;
  readonly #targeted: TargetedRoutes;

  constructor({ sources, bans, recorder, limited, brands, log, metrics }: RedirectOptions) {
    this.#sources = sources;
    this.#bans = bans;
    this.#recorder = recorder;
    this.#brands = brands;
    this.#log = log;
    this.#metrics = metrics;
    this.#lookup = new RouteLookup(sources.routes, bans);
    this.#targeted = new TargetedRoutes({ sources, bans, recorder, limited });
  }

  async redirect(request: Request, shortCode: string, peer: string): Promise<Response> {
    const started = performance.now();
    try {
      return await this.#follow(request, shortCode, peer);
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'redirect failed: answered with 503');
      return this.#drop('busy', request.headers);
    } finally {
      this.#metrics.redirectSeconds.observe((performance.now() - started) / 1000);
    }
  }

  async #follow(request: Request, shortCode: string, peer: string): Promise<Response> {
    const { method, headers } = request;
    if (method !== 'GET' && method !== 'HEAD') return this.#drop('method', headers);
    const route = this.#sources.routes.get(shortCode) ?? (await this.#lookup.load(shortCode));
    if (route === 'unknown') return this.#drop('unknown', headers);
    if (route.targeting !== undefined) return this.#followTargeted(route, request, peer);
    const inactive = inactiveReason(route, this.#bans);
    if (inactive !== undefined) return this.#dropBranded(route, inactive, headers);
    // HEAD only checks the link: it is redirected, but is not a scan.
    if (method === 'HEAD') return this.#sendTo(route, requestIdOf(headers));
    const scan = scanFacts(route, headers, peer, this.#sources);
    await this.#recorder.record(scan);
    return this.#sendTo(route, headers.has('x-request-id') ? requestIdOf(headers) : scan.id);
  }

  async #followTargeted(route: KnownRoute, request: Request, peer: string): Promise<Response> {
    const { headers } = request;
    const end = await this.#targeted.follow(route, request, peer);
    if ('drop' in end) return this.#dropBranded(route, end.drop, headers, end.notice);
    const { scan } = end;
    return this.#sendTo(end, scan === undefined || headers.has('x-request-id') ? requestIdOf(headers) : scan);
  }

  #drop(reason: Drop, headers: Headers, notice: Notice = notices[reason], brand?: Brand): Response {
    this.#metrics.redirects.count(reason);
    return noticeResponse(notice, headers, brand);
  }

  /** What the operator has disabled speaks for the operator, not for the account. */
  async #dropBranded({ account }: KnownRoute, reason: Drop, headers: Headers, notice?: Notice): Promise<Response> {
    return this.#drop(reason, headers, notice, reason === 'disabled' ? undefined : await this.#brands.of(account));
  }

  #sendTo({ location }: { location: string }, requestId: string): Response {
    this.#metrics.redirects.count('redirected');
    return new Response(null, {
      status: 302,
      headers: {
        location,
        'cache-control': 'private, no-store',
        'x-robots-tag': 'noindex',
        'x-request-id': requestId,
      },
    });
  }
}
