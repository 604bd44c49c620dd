import type { Elysia } from 'elysia';
import { json, refusalAnswer, refusalOf } from '../api/answers.ts';
import { mount } from '../api/mount.ts';
import type { Operation } from '../api/operation.ts';
import type { Service } from '../api/service.ts';
import type { Api } from '../api/v1.ts';
import { noticeResponse, notices } from '../edge/pages.ts';
import { Refusal } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { sessionAdmission } from './admission.ts';
import { type Asset, type Bundle, makeBundle } from './bundle.ts';
import { setSession, themeOf, tokenOf } from './cookies.ts';
import { comeAgainPage, consolePage, pageHeaders, signInPage } from './pages.ts';
import { isOwn } from './same-site.ts';
import { endSession, findSession, sessionHours, signIn } from './sessions.ts';
import { checkShortCodes } from './short-codes.ts';

interface Context {
  request: Request;
  server: { requestIP(request: Request): { address: string } | null } | null;
}

const hidden = { detail: { hide: true }, parse: 'none' } as const;
const longestForm = 4096;

/** The console: its pages and files, signing in and out, and the operations of /v1 behind a session. */
export function serveConsole(app: Elysia, service: Service, api: Api, log: Logger): void {
  const { sql, clock, addresses } = service;
  let making: Promise<Bundle> | undefined;
  const bundle = () => {
    making ??= makeBundle().catch((error) => {
      making = undefined;
      throw error;
    });
    return making;
  };

  const html = async (request: Request, status: number, make: (page: PageOf) => string) => {
    const page = { bundle: await bundle(), theme: themeOf(request.headers) };
    return new Response(make(page), { status, headers: pageHeaders });
  };

  async function page({ request }: Context): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new Refusal('method_not_allowed', 'A page can only be read.', undefined, { allow: 'GET, HEAD' });
    const token = tokenOf(request.headers);
    // Who follows a link from elsewhere comes without the cookie, signed in or not; who comes from our page has it.
    if (token === undefined && request.headers.get('sec-fetch-site') === 'cross-site')
      return html(request, 200, comeAgainPage);
    const session = token === undefined ? undefined : await findSession(sql, token, clock());
    if (session !== undefined)
      return html(request, 200, (parts) => consolePage(parts, session, addresses.shortBaseUrl));
    const next = safeNext(new URL(request.url).pathname);
    return html(request, 200, (parts) => signInPage(parts, { next }));
  }

  async function enter({ request, server }: Context): Promise<Response> {
    const form = await readForm(request);
    const next = safeNext(form.get('next') ?? '');
    const refuse = (status: number, fault: string) =>
      html(request, status, (parts) => signInPage(parts, { next, fault }));
    if (!isOwn(request, addresses.publicUrl))
      return refuse(403, 'Another site sent you here with a key: sign in with yours.');
    const { refusal } = await api.admission.byAddress(request, server?.requestIP(request)?.address ?? '');
    if (refusal !== undefined) return refuse(refusal.status, 'Too many attempts. Wait a minute, then try again.');
    const key = (form.get('key') ?? '').trim();
    if (!/^sk_(live|test)_/.test(key)) return refuse(400, 'A key begins with sk_live_ or sk_test_.');
    const token = tokenOf(request.headers);
    const entered = await signIn(sql, { key, token, now: clock() });
    if (entered === undefined) return refuse(401, 'This key does not exist, or was revoked.');
    const home = entered.mode === 'test' ? '/console/test' : '/console';
    const fits = next.startsWith('/console/test') === (entered.mode === 'test');
    return redirect(fits ? next : home, setSession(entered.token, sessionHours * 3600, addresses.publicUrl));
  }

  async function leave({ request }: Context): Promise<Response> {
    const token = tokenOf(request.headers);
    if (token !== undefined && isOwn(request, addresses.publicUrl)) await endSession(sql, token);
    return redirect('/console', setSession(undefined, 0, addresses.publicUrl));
  }

  /** Errors as everywhere; while the database is away, people are asked for patience on a page. */
  const guarded = (respond: (context: Context) => Promise<Response>) => async (context: Context) => {
    const { headers } = context.request;
    try {
      return await respond(context);
    } catch (error) {
      const refusal = refusalOf(error, log.child({ request_id: requestIdOf(headers) }));
      if (refusal.code === 'unavailable') return noticeResponse(notices.busy, headers);
      const { status, body, headers: more } = refusalAnswer(refusal);
      const type = { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' };
      return new Response(body, { status, headers: { ...type, 'cache-control': 'no-store', ...more } });
    }
  };

  async function asset({ request }: Context): Promise<Response> {
    const { pathname } = new URL(request.url);
    const found = Object.values(await bundle()).find(({ path }: Asset) => path === pathname);
    if (found === undefined) throw new Refusal('not_found', 'There is no such file: load the page again.');
    return assetResponse(found, request.headers.get('accept-encoding') ?? '');
  }

  mount(app, [...api.operations.map(withoutAbsence), checkShortCodes(service)], {
    base: '/console/api',
    admit: api.whenReady(sessionAdmission(service, api.admission)),
    log,
  });
  app.get('/console/assets/*', guarded(asset), hidden);
  app.post('/console/session', guarded(enter), hidden);
  app.post('/console/sign-out', guarded(leave), hidden);
  // For every method, since Elysia would prefer a route of one method, however vague, to the exacter ones for all above.
  for (const path of ['/console', '/console/*']) app.all(path, guarded(page), hidden);
  app.get('/', () => redirect('/console'), hidden);
}

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

type PageOf = Parameters<typeof signInPage>[0];

function redirect(location: string, cookie?: string): Response {
  const headers = { location, 'cache-control': 'no-store', ...(cookie === undefined ? {} : { 'set-cookie': cookie }) };
  return new Response(null, { status: cookie === undefined ? 302 : 303, headers });
}

/** A page of ours and nothing else, however it is written. */
const safeNext = (path: string) =>
  /^\/console(\/[\w-]+)*$/.test(path) && path !== '/console/session' ? path : '/console';

/** What the form holds; nothing where it is longer than any of ours. */
async function readForm(request: Request): Promise<URLSearchParams> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of request.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestForm) return new URLSearchParams();
  }
  return new URLSearchParams(text);
}

function assetResponse({ type, plain, gzip, brotli }: Asset, accepted: string): Response {
  const [encoding, body] = /\bbr\b/.test(accepted)
    ? (['br', brotli] as const)
    : /\bgzip\b/.test(accepted)
      ? (['gzip', gzip] as const)
      : (['identity', plain] as const);
  return new Response(body, {
    headers: {
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    },
  });
}
