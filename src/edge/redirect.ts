import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import type { Bans } from './bans.ts';
import { noticeResponse, notices } from './pages.ts';
import type { Recorder } from './recorder.ts';
import { RouteLookup } from './route-lookup.ts';
import type { KnownRoute } from './routes.ts';
import { type ScanSources, scanFacts } from './scan-facts.ts';

interface RedirectOptions {
  sources: ScanSources;
  bans: Bans;
  recorder: Recorder;
  log: Logger;
  metrics: Metrics;
}

/**
 * Why a request for a short link is neither recorded nor redirected: the label of its count in
 * `scanlog_redirects_total`, and the page that it is answered with.
 */
type Drop = keyof typeof notices;

/**
 * Answers requests for short links. The steps of a scan: method, route, status, facts, record, redirect. Each of the first
 * three can drop the request, and a failure of any step drops it as `busy`.
 */
export class Redirector {
  readonly #sources: ScanSources;
  readonly #bans: Bans;
  readonly #recorder: Recorder;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #lookup: RouteLookup;

  constructor({ sources, bans, recorder, log, metrics }: RedirectOptions) {
    this.#sources = sources;
    this.#bans = bans;
    this.#recorder = recorder;
    this.#log = log;
    this.#metrics = metrics;
    this.#lookup = new RouteLookup(sources.routes, bans);
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

  async #follow({ method, headers }: Request, shortCode: string, peer: string): Promise<Response> {
    if (method !== 'GET' && method !== 'HEAD') return this.#drop('method', headers);
    const route = this.#sources.routes.get(shortCode) ?? (await this.#lookup.load(shortCode));
    if (route === 'unknown') return this.#drop('unknown', headers);
    const inactive = inactiveReason(route, this.#bans);
    if (inactive !== undefined) return this.#drop(inactive, headers);
    // HEAD only checks the link: it is redirected, but is not a scan.
    if (method === 'HEAD') return this.#sendTo(route, requestIdOf(headers));
    const scan = scanFacts(route, headers, peer, this.#sources);
    await this.#recorder.record(scan);
    return this.#sendTo(route, headers.has('x-request-id') ? requestIdOf(headers) : scan.id);
  }

  #drop(reason: Drop, headers: Headers): Response {
    this.#metrics.redirects.count(reason);
    return noticeResponse(notices[reason], headers);
  }

  #sendTo({ location }: KnownRoute, requestId: string): Response {
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

/** Why a route is not redirected. A deleted code is reported as deleted even if the operator has banned it. */
function inactiveReason(route: KnownRoute, bans: Bans): 'deleted' | 'disabled' | 'paused' | 'draft' | undefined {
  if (route.status !== 'deleted' && bans.covers(route)) return 'disabled';
  return route.status === 'active' ? undefined : route.status;
}
