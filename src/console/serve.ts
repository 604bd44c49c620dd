import type { Elysia } from 'elysia';
import { findSession, noteSessionUse, whySessionEnded } from '../accounts/console-sessions.ts';
import { hashOfKey } from '../accounts/keys.ts';
import type { Operation } from '../api/http/operation.ts';
import { json, refusalOf, refusalResponse } from '../api/http/responses.ts';
import { mount } from '../api/mount.ts';
import type { Service } from '../api/service.ts';
import type { Api } from '../api/v1.ts';
import { noticeResponse, notices } from '../edge/pages.ts';
import { Refusal } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { OidcProvider } from '../people/oidc/provider.ts';
import { siteOf } from '../people/passkeys.ts';
import { SignInSteps } from '../people/steps.ts';
import { bootstrapFor } from './bootstrap.ts';
import { type Asset, type Bundle, buildBundle } from './bundle.ts';
import {
  type Console,
  type Handler,
  htmlResponse,
  locationOf,
  pathOf,
  peerOf,
  type RequestContext,
} from './context.ts';
import { sessionTokenOf } from './cookies.ts';
import { serveGuide } from './guides.ts';
import { serveOperator } from './operator/serve.ts';
import { consolePage, reloadPage } from './pages.ts';
import { meOperations } from './people/me.ts';
import { passkeyOperations } from './people/passkeys.ts';
import { peopleRoutes } from './people/routes.ts';
import { listSecurityChanges } from './people/security.ts';
import { totpOperations } from './people/totp.ts';
import { checkPhoneLink, handlePhoneSignIn, servePhonePage } from './phone.ts';
import { safeNext } from './safe-next.ts';
import { selectionOperations } from './selection.ts';
import { readRecentScans } from './selection-scans.ts';
import { sessionAdmission, targetParameters } from './session-admission.ts';
import { sessionOperations } from './sessions.ts';
import { checkShortCodes } from './short-codes.ts';
import { handleSignIn, handleSignOut } from './sign-in.ts';
import { signInPage } from './sign-in-page.ts';
import { waysOf } from './ways.ts';

/** One for all services of a process, because building it takes 0.4 s of CPU. */
const bundle = onFirstUse(buildBundle);

/** Mounts the console: its pages and files, sign-in and sign-out, and the operations of /v1 for signed-in sessions. */
export function serveConsole(
  app: Elysia,
  service: Service,
  api: Api,
  { log, metrics }: { log: Logger; metrics: Metrics },
): void {
  const sessionUse = noteSessionUse(service.sql, service.clock);
  const { sql, clock, webhooks, addresses } = service;
  const console: Console = {
    service,
    api,
    log,
    metrics,
    bundle,
    sessionUse,
    steps: new SignInSteps(sql, webhooks.box, clock),
    oidc: service.oidc === undefined ? undefined : new OidcProvider(service.oidc, clock),
    site: siteOf(addresses.publicUrl),
  };
  const ownOperations = [
    checkShortCodes(service),
    ...sessionOperations(console),
    ...meOperations(console),
    ...totpOperations(console),
    ...passkeyOperations(console),
    listSecurityChanges(console),
    ...selectionOperations(service, api),
    readRecentScans(service),
  ];
  mount(app, [...api.operations.map(withNull), ...ownOperations], {
    base: '/console/api',
    admit: api.whenReady(sessionAdmission(console)),
    parameters: targetParameters,
    log,
    tracing: service.tracing,
  });
  serveOperator(app, console);
  const unparsed = { parse: 'none' } as const;
  const route = (handler: Handler) => withErrorResponses(console, log, handler);
  app.get('/console/assets/*', route(serveAsset), unparsed);
  app.get('/console/docs/*', route(serveGuide), unparsed);
  app.post('/console/session', route(handleSignIn), unparsed);
  app.post('/console/sign-out', route(handleSignOut), unparsed);
  app.get('/console/phone', route(servePhonePage), unparsed);
  app.post('/console/phone', route(handlePhoneSignIn), unparsed);
  app.post('/console/phone/check', route(checkPhoneLink), unparsed);
  for (const { method, path, handler } of peopleRoutes) app.route(method, path, route(handler), unparsed);
  // All methods: Elysia would prefer a wildcard route for GET alone to the all-method routes of /console/api.
  for (const path of ['/console', '/console/*']) app.all(path, route(servePage), unparsed);
  app.get('/', () => new Response(null, { status: 302, headers: { location: '/console' } }), unparsed);
}

/** The console under any path for a signed-in user, since its script does the routing; else the sign-in page. */
async function servePage(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new Refusal('method_not_allowed', 'Console pages accept GET and HEAD only.', undefined, {
      allow: 'GET, HEAD',
    });
  const { sql, clock, addresses, signup } = console.service;
  const token = sessionTokenOf(request.headers, addresses.publicUrl);
  // A link on another site arrives without the SameSite=Strict cookie even when the user is signed in.
  if (token === undefined && request.headers.get('sec-fetch-site') === 'cross-site')
    return htmlResponse(console, request, 200, reloadPage);
  const now = clock();
  const session = token === undefined ? undefined : await findSession(sql, token, now);
  const { networks } = console.api.admission;
  const isOutside =
    session?.user === null && session.keys.every((key) => networks.isOutside(key.id, key, request, peerOf(context)));
  if (token !== undefined && session !== undefined && !isOutside) {
    console.sessionUse.note(hashOfKey(token));
    const bootstrap = await bootstrapFor(console, session);
    const script = isOperators(pathOf(request)) ? 'operatorScript' : 'script';
    return htmlResponse(console, request, 200, (page) => consolePage(page, bootstrap, page.bundle[script]));
  }
  const ended = isOutside
    ? 'address_not_allowed'
    : token === undefined
      ? undefined
      : await whySessionEnded(sql, token, { mode: undefined, now });
  return htmlResponse(console, request, 200, (page) =>
    signInPage(page, { next: safeNext(locationOf(request)), signup, ways: waysOf(console), ended }),
  );
}

/** Whether a page is one of operators, which have a script of their own. */
const isOperators = (path: string) => /^\/console(\/test)?\/operator(\/|$)/.test(path);

async function serveAsset(console: Console, { request }: RequestContext): Promise<Response> {
  const path = pathOf(request);
  const asset: Asset | undefined = Object.values(await console.bundle()).find((file) => file.path === path);
  if (asset === undefined) throw new Refusal('not_found', 'This file does not exist. Reload the page.');
  const acceptEncoding = request.headers.get('accept-encoding') ?? '';
  const encoding = /\bbr\b/.test(acceptEncoding) ? 'br' : /\bgzip\b/.test(acceptEncoding) ? 'gzip' : undefined;
  return new Response(asset[encoding ?? 'plain'], {
    headers: {
      'content-type': asset.type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    },
  });
}

/** Turns errors into API error responses, and an unavailable database into a page that asks to try again. */
const withErrorResponses = (console: Console, log: Logger, handler: Handler) => async (context: RequestContext) => {
  const { headers } = context.request;
  try {
    if (!console.api.isReady()) return noticeResponse(notices.busy, headers);
    return await handler(console, context);
  } catch (error) {
    const refusal = refusalOf(error, log.child({ request_id: requestIdOf(headers) }));
    if (refusal.code === 'unavailable') return noticeResponse(notices.busy, headers);
    const { status, body, headers: extraHeaders } = refusalResponse(refusal);
    return new Response(body, {
      status,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        ...extraHeaders,
      },
    });
  }
};

/** Answers `null` instead of 404 where nothing is set, since browsers log every 404 as an error. */
function withNull(operation: Operation): Operation {
  if (operation.mayBeUnset !== true) return operation;
  return {
    ...operation,
    handle: (call) =>
      operation.handle(call).catch((error) => {
        if (error instanceof Refusal && error.code === 'not_found') return json(200, null);
        throw error;
      }),
  };
}

/** Builds on the first call and caches the result; a failed build is retried on the next call. */
function onFirstUse(build: () => Promise<Bundle>): () => Promise<Bundle> {
  let cached: Promise<Bundle> | undefined;
  return () => {
    cached ??= build().catch((error) => {
      cached = undefined;
      throw error;
    });
    return cached;
  };
}
