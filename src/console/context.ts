import type { Service } from '../api/service.ts';
import type { Api } from '../api/v1.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
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
}

/** The part of Elysia's context that the routes use. */
export interface RequestContext {
  request: Request;
  server: { requestIP(request: Request): { address: string } | null } | null;
}

/** The path of the URL, cut out by hand: its host is the client's `Host` header, which may not parse as a URL. */
export const pathOf = ({ url }: Request) => url.slice(url.indexOf('/', 8)).replace(/[?#].*$/s, '');

export async function htmlResponse(
  { bundle }: Console,
  { headers }: Request,
  status: number,
  render: (page: Page) => string,
): Promise<Response> {
  return new Response(render({ bundle: await bundle(), theme: themeOf(headers) }), { status, headers: pageHeaders });
}

export function redirect(location: string, cookie?: string): Response {
  const headers = { location, 'cache-control': 'no-store', ...(cookie === undefined ? {} : { 'set-cookie': cookie }) };
  return new Response(null, { status: 303, headers });
}
