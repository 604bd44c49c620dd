import { linkOf } from '../../events/link.ts';
import { isReserved, shortCodeReader } from '../../events/reserved-words.ts';
import type { DomainAppLinks } from './app-links.ts';
import type { Bans } from './bans.ts';
import type { Brands } from './brands.ts';
import type { ServedDomain } from './domains.ts';
import { toLocation } from './location.ts';
import { noticeResponse, notices, rootNotice } from './pages.ts';
import type { Redirector } from './redirect.ts';

export interface DomainSiteOptions {
  redirect: Redirector['redirect'];
  answerUnknown: Redirector['answerUnknown'];
  bans: Pick<Bans, 'covers'>;
  brands: Pick<Brands, 'of'>;
  appLinks: Pick<DomainAppLinks, 'of'>;
}

/** Links of a domain are at its root. */
const shortCodeOf = shortCodeReader('http://localhost');

/** The files of app links, with the property of `app_links` that they show. */
const appLinkFiles = {
  '/.well-known/apple-app-site-association': 'apple',
  '/.well-known/assetlinks.json': 'android',
} as const;

/** Everything that a custom domain answers: its short links, its root, and the files of its apps. Nothing else of the service. */
export class DomainSite {
  readonly #options: DomainSiteOptions;

  constructor(options: DomainSiteOptions) {
    this.#options = options;
  }

  async answer(domain: ServedDomain, request: Request, peer: string): Promise<Response> {
    const shortCode = shortCodeOf(request.url);
    if (shortCode !== undefined) return this.#options.redirect(request, linkOf(domain.name, shortCode), peer, domain);
    if (request.method !== 'GET' && request.method !== 'HEAD') return noticeResponse(notices.method, request.headers);
    const { pathname } = new URL(request.url);
    if (pathname === '/') return this.#answerRoot(domain, request);
    if (Object.hasOwn(appLinkFiles, pathname))
      return this.#answerAppLinks(domain, pathname as keyof typeof appLinkFiles, request);
    // What the service itself has elsewhere is not there, rather than somewhere else.
    if (isReserved(pathname.split('/', 2)[1] ?? '')) return noticeResponse(notices.unknown, request.headers);
    return this.#options.answerUnknown(request, peer, domain);
  }

  async #answerRoot({ account, root_url }: ServedDomain, { headers }: Request): Promise<Response> {
    const { bans, brands } = this.#options;
    if (bans.covers({ account, destination_url: root_url ?? 'http://localhost', disabled: false }))
      return noticeResponse(notices.disabled, headers);
    if (root_url === null) return noticeResponse(rootNotice, headers, await brands.of(account));
    return new Response(null, {
      status: 302,
      headers: { location: toLocation(root_url), 'cache-control': 'private, no-store' },
    });
  }

  async #answerAppLinks({ id }: ServedDomain, path: keyof typeof appLinkFiles, { headers }: Request) {
    const links = await this.#options.appLinks.of(id).catch(() => 'unavailable' as const);
    if (links === 'unavailable') return noticeResponse(notices.busy, headers);
    const content = links?.[appLinkFiles[path]];
    if (content === undefined) return noticeResponse(notices.unknown, headers);
    // A platform refuses these files after a redirect or with another type.
    return new Response(JSON.stringify(content), {
      headers: {
        'content-type': 'application/json',
        'cache-control': 'public, max-age=300',
        'x-content-type-options': 'nosniff',
      },
    });
  }
}
