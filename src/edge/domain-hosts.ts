import { proofPath } from '../../events/domain.ts';
import type { TrustedProxies } from '../lib/client-address.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { DomainSite, type DomainSiteOptions } from './domain-site.ts';
import type { Domains } from './domains.ts';
import { hostIn, requestedHost } from './host.ts';
import { noticeResponse, notices } from './pages.ts';

interface DomainHostsOptions {
  domains: Domains;
  trustedProxies: TrustedProxies;
  /** The addresses of the service itself, which are never custom domains. */
  ownUrls: readonly string[];
  site: DomainSiteOptions;
}

const isProof = (url: string) => url.startsWith(proofPath, url.indexOf('/', 8));

/** Decides by the host of a request whether a custom domain answers it. */
export class DomainHosts {
  readonly #domains: Domains;
  readonly #trusted: TrustedProxies;
  readonly #ownHosts: ReadonlySet<string>;
  readonly #site: DomainSite;

  constructor({ domains, trustedProxies, ownUrls, site }: DomainHostsOptions) {
    this.#domains = domains;
    this.#trusted = trustedProxies;
    this.#ownHosts = new Set(ownUrls.map(hostIn));
    this.#site = new DomainSite(site);
  }

  /** Undefined if the request is for another host. */
  answer(request: Request, peer: string): Promise<Response | undefined> | undefined {
    if (this.#domains.isLoaded) return this.#domains.isEmpty ? undefined : this.#answerLoaded(request, peer);
    if (this.#ownHosts.has(requestedHost(request, peer, this.#trusted))) return undefined;
    return this.#answerWhenLoaded(request, peer);
  }

  #answerLoaded(request: Request, peer: string): Promise<Response> | undefined {
    const domain = this.#domains.find(requestedHost(request, peer, this.#trusted));
    if (domain === undefined || isProof(request.url)) return undefined;
    // A link of a domain that was removed must not lead to the code of the service that has the same short code.
    if (domain === 'former') return Promise.resolve(noticeResponse(notices.unknown, request.headers));
    return this.#site.answer(domain, request, peer);
  }

  /** Otherwise a link of a domain would lead to the code of the service that has the same short code. */
  async #answerWhenLoaded(request: Request, peer: string): Promise<Response | undefined> {
    try {
      await withTimeout(this.#domains.loaded(), timeouts.routeLookupMs, () => {
        throw new Error(`Postgres did not answer within ${timeouts.routeLookupMs} ms`);
      });
    } catch {
      return noticeResponse(notices.busy, request.headers);
    }
    return this.#answerLoaded(request, peer);
  }
}
