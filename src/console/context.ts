import type { Service } from '../api/service.ts';
import type { Api } from '../api/v1.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Bundle } from './bundle.ts';
import { themeOf } from './cookies.ts';
import { type Page, pageHeaders } from './pages.ts';

/** What the routes of the console work with. */
export interface Console {
  service: Service;
  api: Api;
  log: Logger;
  metrics: Metrics;
  /** Its files, made when they are first asked for. */
  bundle(): Promise<Bundle>;
}

/** A request as Elysia hands it over. */
export interface Visit {
  request: Request;
  server: { requestIP(request: Request): { address: string } | null } | null;
}

/** The path alone: the rest of the address holds whatever the client sent as `Host`, which may be none that exists. */
export const pathOf = ({ url }: Request) => url.slice(url.indexOf('/', 8)).replace(/[?#].*$/s, '');

export async function html(
  { bundle }: Console,
  { headers }: Request,
  status: number,
  make: (page: Page) => string,
): Promise<Response> {
  return new Response(make({ bundle: await bundle(), theme: themeOf(headers) }), { status, headers: pageHeaders });
}

export function redirect(location: string, cookie?: string): Response {
  const headers = { location, 'cache-control': 'no-store', ...(cookie === undefined ? {} : { 'set-cookie': cookie }) };
  return new Response(null, { status: 303, headers });
}
