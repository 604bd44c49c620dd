import type { Link } from '../../events/link.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import type { Brands } from './brands.ts';
import type { ServedDomain } from './domains.ts';
import { toLocation } from './location.ts';
import type { DropName } from './notice-texts.ts';
import { type Brand, type Drop, noticeResponse, notices } from './pages.ts';
import { LinkRequest, redirectSteps, type StepTools } from './redirect-steps.ts';
import { RouteLookup } from './route-lookup.ts';

interface RedirectOptions extends Omit<StepTools, 'lookup'> {
  brands: Pick<Brands, 'of'>;
  log: Logger;
  metrics: Metrics;
}

/** Notices of codes that are active, but not now. */
const notLive: ReadonlySet<DropName> = new Set(['not_started', 'expired', 'limit_reached']);

/** Notices without a route; what the operator has disabled speaks for the operator. */
const ofNoAccount: ReadonlySet<DropName> = new Set(['method', 'unknown', 'busy', 'disabled']);

/** Answers requests for short links: runs the steps until one of them drops the request. A failure drops it as `busy`. */
export class Redirector {
  readonly #tools: StepTools;
  readonly #brands: Pick<Brands, 'of'>;
  readonly #log: Logger;
  readonly #metrics: Metrics;

  constructor({ sources, bans, gate, recorder, limited, brands, log, metrics }: RedirectOptions) {
    this.#tools = { sources, bans, gate, recorder, limited, lookup: new RouteLookup(sources.routes, bans) };
    this.#brands = brands;
    this.#log = log;
    this.#metrics = metrics;
  }

  /** `domain` is the custom domain of the link; undefined for links of the service itself. */
  async redirect(request: Request, requested: Link, peer: string, domain?: ServedDomain): Promise<Response> {
    const started = performance.now();
    const link = new LinkRequest(request, requested, peer, domain);
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

  /** The response of a custom domain for what is not there. */
  answerUnknown(request: Request, peer: string, domain: ServedDomain): Promise<Response> {
    return this.#drop(notices.unknown, new LinkRequest(request, domain.name, peer, domain));
  }

  async #drop(drop: Drop, link: LinkRequest): Promise<Response> {
    this.#metrics.redirects.count(drop.name);
    const instead = this.#insteadOf(drop, link);
    if (instead !== undefined) return redirectTo(toLocation(instead), requestIdOf(link.headers));
    return noticeResponse(drop, link.headers, await this.#brandOf(drop, link));
  }

  /** The URL that the domain of the link has for such a case, unless the operator has blocked its host or the account. */
  #insteadOf({ name }: Drop, { domain }: LinkRequest): string | undefined {
    if (domain === undefined) return undefined;
    const url = name === 'unknown' ? domain.not_found_url : notLive.has(name) ? domain.expired_url : null;
    if (url === null) return undefined;
    const { account } = domain;
    return this.#tools.bans.covers({ account, destination_url: url, disabled: false }) ? undefined : url;
  }

  #brandOf({ name }: Drop, { route, domain }: LinkRequest): Promise<Brand | undefined> | undefined {
    if (name === 'unknown' && domain !== undefined) return this.#brands.of(domain.account);
    return ofNoAccount.has(name) ? undefined : this.#brands.of(route.account);
  }

  #sendTo(link: LinkRequest): Response {
    this.#metrics.redirects.count('redirected');
    // After a form, 303 makes the browser open the destination with GET.
    return redirectTo(link.location, responseIdOf(link), link.method === 'POST' ? 303 : 302);
  }
}

const redirectTo = (location: string, requestId: string, status: 302 | 303 = 302) =>
  new Response(null, {
    status,
    headers: {
      location,
      'cache-control': 'private, no-store',
      'x-robots-tag': 'noindex',
      'x-request-id': requestId,
    },
  });

/** The client's `X-Request-Id`; without one, the id of the recorded scan. */
function responseIdOf({ method, headers, scan }: LinkRequest): string {
  if (scan === undefined || method === 'HEAD' || headers.has('x-request-id')) return requestIdOf(headers);
  return scan.id;
}
