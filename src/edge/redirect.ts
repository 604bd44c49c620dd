import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import type { Brands } from './brands.ts';
import type { NoticeName } from './notice-texts.ts';
import { type Brand, type Drop, noticeResponse, notices } from './pages.ts';
import { LinkRequest, redirectSteps, type StepTools } from './redirect-steps.ts';
import { RouteLookup } from './route-lookup.ts';

interface RedirectOptions extends Omit<StepTools, 'lookup'> {
  brands: Pick<Brands, 'of'>;
  log: Logger;
  metrics: Metrics;
}

/** Notices without a route; what the operator has disabled speaks for the operator. */
const ofNoAccount: ReadonlySet<NoticeName> = new Set(['method', 'unknown', 'busy', 'disabled']);

/** Answers requests for short links: runs the steps until one of them drops the request. A failure drops it as `busy`. */
export class Redirector {
  readonly #tools: StepTools;
  readonly #brands: Pick<Brands, 'of'>;
  readonly #log: Logger;
  readonly #metrics: Metrics;

  constructor({ sources, bans, recorder, limited, brands, log, metrics }: RedirectOptions) {
    this.#tools = { sources, bans, recorder, limited, lookup: new RouteLookup(sources.routes, bans) };
    this.#brands = brands;
    this.#log = log;
    this.#metrics = metrics;
  }

  async redirect(request: Request, shortCode: string, peer: string): Promise<Response> {
    const started = performance.now();
    const link = new LinkRequest(request, shortCode, peer);
    try {
      for (const step of redirectSteps) {
        const outcome = step(link, this.#tools);
        // Most steps need not wait: an await for each would be seven turns of the microtask queue instead of one.
        const drop = outcome instanceof Promise ? await outcome : outcome;
        if (drop) return await this.#drop(drop, link);
      }
      return this.#sendTo(link);
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'redirect failed: answered with 503');
      return await this.#drop(notices.busy, link);
    } finally {
      this.#metrics.redirectSeconds.observe((performance.now() - started) / 1000);
    }
  }

  async #drop(drop: Drop, link: LinkRequest): Promise<Response> {
    this.#metrics.redirects.count(drop.name);
    return noticeResponse(drop, link.headers, await this.#brandOf(drop, link));
  }

  #brandOf({ name }: Drop, { route }: LinkRequest): Promise<Brand | undefined> | undefined {
    return ofNoAccount.has(name) ? undefined : this.#brands.of(route.account);
  }

  #sendTo(link: LinkRequest): Response {
    this.#metrics.redirects.count('redirected');
    return new Response(null, {
      status: 302,
      headers: {
        location: link.location,
        'cache-control': 'private, no-store',
        'x-robots-tag': 'noindex',
        'x-request-id': responseIdOf(link),
      },
    });
  }
}

/** The client's `X-Request-Id`; without one, the id of the recorded scan. */
function responseIdOf({ method, headers, scan }: LinkRequest): string {
  if (scan === undefined || method === 'HEAD' || headers.has('x-request-id')) return requestIdOf(headers);
  return scan.id;
}
