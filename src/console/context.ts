import type { noteSessionUse } from '../accounts/console-sessions.ts';
import type { Service } from '../api/service.ts';
import type { Api } from '../api/v1.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { OidcProvider } from '../people/oidc/provider.ts';
import type { Site } from '../people/passkeys.ts';
import type { SignInSteps } from '../people/steps.ts';
import type { Bundle } from './bundle.ts';
import { themeOf } from './cookies.ts';
import { type Page, pageHeaders } from './pages.ts';

/** Dependencies of the console's routes. */
export interface Console {
  service: Service;
  api: Api;
  log: Logger;
  metrics: Metrics;
  /** The console's files, built on the first call. */
  bundle(): Promise<Bundle>;
  /** Notes that a session was used, by the hash of its token. */
  sessionUse: ReturnType<typeof noteSessionUse>;
  steps: SignInSteps;
  /** The OpenID provider at which people can sign in. */
  oidc: OidcProvider | undefined;
  /** The site of passkeys, or why there are none. */
  site: Site | { reason: string };
}

/** The part of Elysia's context that the routes use. */
export interface RequestContext {
  request: Request;
  server: { requestIP(request: Request): { address: string } | null } | null;
}

export type Handler = (console: Console, context: RequestContext) => Promise<Response>;

/** Path and query of the URL, cut out by hand: its host is the client's `Host` header, which may not parse as a URL. */
export const locationOf = ({ url }: Request) => url.slice(url.indexOf('/', 8)).replace(/#.*$/s, '');

/** The parameters after the path. */
export const queryOf = (request: Request) => new URLSearchParams(locationOf(request).replace(/^[^?]*/s, ''));

export const pathOf = (request: Request) => locationOf(request).replace(/\?.*$/s, '');

export const peerOf = ({ request, server }: RequestContext) => server?.requestIP(request)?.address ?? '';

/** Whether our own script sent the request, which expects JSON instead of a page. */
export const wantsJson = ({ headers }: Request) => headers.get('accept') === 'application/json';

export const jsonResponse = (status: number, value: unknown, ...cookies: string[]) =>
  new Response(JSON.stringify(value), {
    status,
    headers: withCookies(cookies, {
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    }),
  });

function withCookies(cookies: string[], values: Record<string, string>): Headers {
  const headers = new Headers(values);
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return headers;
}

export async function htmlResponse(
  { bundle }: Console,
  { headers }: Request,
  status: number,
  render: (page: Page) => string,
): Promise<Response> {
  return new Response(render({ bundle: await bundle(), theme: themeOf(headers) }), { status, headers: pageHeaders });
}

export const redirect = (location: string, ...cookies: string[]) =>
  new Response(null, { status: 303, headers: withCookies(cookies, { location, 'cache-control': 'no-store' }) });
