import type { Elysia } from 'elysia';
import { json, refusalAnswer, refusalOf } from '../api/answers.ts';
import { mount } from '../api/mount.ts';
import type { Operation } from '../api/operation.ts';
import type { Service } from '../api/service.ts';
import type { Api } from '../api/v1.ts';
import { noticeResponse, notices } from '../edge/pages.ts';
import { Refusal } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { sessionAdmission } from './admission.ts';
import { type Asset, type Bundle, makeBundle } from './bundle.ts';
import { type Console, html, pathOf, type Visit } from './context.ts';
import { tokenOf } from './cookies.ts';
import { comeAgainPage, consolePage, signInPage } from './pages.ts';
import { findSession } from './sessions.ts';
import { checkShortCodes } from './short-codes.ts';
import { enter, leave, safeNext } from './sign-in.ts';

type Respond = (console: Console, visit: Visit) => Promise<Response>;

/** The console: its pages and files, signing in and out, and the operations of /v1 behind a session. */
export function serveConsole(
  app: Elysia,
  service: Service,
  api: Api,
  { log, metrics }: { log: Logger; metrics: Metrics },
): void {
  const console: Console = { service, api, log, metrics, bundle: once(makeBundle) };
  mount(app, [...api.operations.map(withoutAbsence), checkShortCodes(service)], {
    base: '/console/api',
    admit: api.whenReady(sessionAdmission(service, api.admission)),
    log,
  });
  const hidden = { detail: { hide: true }, parse: 'none' } as const;
  const route = (respond: Respond) => guarded(console, log, respond);
  app.get('/console/assets/*', route(asset), hidden);
  app.post('/console/session', route(enter), hidden);
  app.post('/console/sign-out', route(leave), hidden);
  // For every method, since Elysia would prefer a route of one method, however vague, to the exacter ones for all above.
  for (const path of ['/console', '/console/*']) app.all(path, route(page), hidden);
  app.get('/', () => new Response(null, { status: 302, headers: { location: '/console' } }), hidden);
}

/** Whoever is signed in gets the console, under any address: its script knows which there are. */
async function page(console: Console, { request }: Visit): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new Refusal('method_not_allowed', 'A page can only be read.', undefined, { allow: 'GET, HEAD' });
  const { sql, clock, addresses } = console.service;
  const token = tokenOf(request.headers, addresses.publicUrl);
  // Who follows a link from elsewhere comes without the cookie, signed in or not; who comes from our page has it.
  if (token === undefined && request.headers.get('sec-fetch-site') === 'cross-site')
    return html(console, request, 200, comeAgainPage);
  const session = token === undefined ? undefined : await findSession(sql, token, clock());
  return html(console, request, 200, (parts) =>
    session === undefined
      ? signInPage(parts, { next: safeNext(pathOf(request)) })
      : consolePage(parts, session, addresses.shortBaseUrl),
  );
}

async function asset(console: Console, { request }: Visit): Promise<Response> {
  const path = pathOf(request);
  const found: Asset | undefined = Object.values(await console.bundle()).find((one) => one.path === path);
  if (found === undefined) throw new Refusal('not_found', 'There is no such file: load the page again.');
  const accepted = request.headers.get('accept-encoding') ?? '';
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
  return new Response(found[encoding ?? 'plain'], {
    headers: {
      'content-type': found.type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    },
  });
}

/** Errors as everywhere; while the database is away, people are asked for patience on a page. */
const guarded = (console: Console, log: Logger, respond: Respond) => async (visit: Visit) => {
  const { headers } = visit.request;
  try {
    if (!console.api.isReady()) return noticeResponse(notices.busy, headers);
    return await respond(console, visit);
  } catch (error) {
    const refusal = refusalOf(error, log.child({ request_id: requestIdOf(headers) }));
    if (refusal.code === 'unavailable') return noticeResponse(notices.busy, headers);
    const { status, body, headers: more } = refusalAnswer(refusal);
    const type = { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' };
    return new Response(body, { status, headers: { ...type, 'cache-control': 'no-store', ...more } });
  }
};

/** Browsers report each 404 as an error of the page. That nobody has set a webhook yet is none: it is `null`. */
function withoutAbsence(operation: Operation): Operation {
  if (operation.method !== 'GET' || operation.path !== '/v1/account/webhook') return operation;
  return {
    ...operation,
    handle: (call) =>
      operation.handle(call).catch((error) => {
        if (error instanceof Refusal && error.code === 'not_found') return json(200, null);
        throw error;
      }),
  };
}

/** Made when it is first asked for, and kept; what failed is tried again. */
function once(make: () => Promise<Bundle>): () => Promise<Bundle> {
  let made: Promise<Bundle> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
