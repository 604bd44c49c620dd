import type { Elysia } from 'elysia';
import type { AdmissionControl } from '../../accounts/admission.ts';
import { type OpenedShare, openShares } from '../../accounts/shares.ts';
import { noticeResponse, notices } from '../../edge/pages.ts';
import { batchCalls } from '../../lib/batch-calls.ts';
import { clientAddress, type TrustedProxies } from '../../lib/client-address.ts';
import { Refusal, retryLater } from '../../lib/errors.ts';
import { subscriberNetwork } from '../../lib/ip-address.ts';
import { LimitPerKey } from '../../lib/limit-per-key.ts';
import type { Logger } from '../../lib/logger.ts';
import { isPassword } from '../../lib/passwords.ts';
import { requestIdOf } from '../../lib/request-id.ts';
import { QueueFull } from '../../lib/semaphore.ts';
import { languageOf } from '../../texts/in-language.ts';
import { readForm } from '../http/form.ts';
import { refusalOf, refusalResponse } from '../http/responses.ts';
import type { Context } from '../http/traced.ts';
import type { Service } from '../service.ts';
import { isOpened, openCookies } from './cookie.ts';
import { defaultSharePeriod, readShared, type SharePeriod, sharePeriods } from './figures.ts';
import { missingPage, passwordPage, statisticsPage } from './page.ts';
import { SharePages } from './pages.ts';

interface ShareServer {
  service: Service;
  admission: AdmissionControl;
  trustedProxies: TrustedProxies;
  log: Logger;
  isReady(): boolean;
}

type ShareContext = Pick<Context, 'request' | 'server'> & { params: { token: string | null } };

/** Pages that one client waits for. */
const maxPerClient = 16;
const maxTriesPerMinute = 5;

/** Serves the public pages of statistics. */
export function serveShares(app: Elysia, { service, admission, trustedProxies, log, isReady }: ShareServer): void {
  const { sql, clock, webhooks, addresses } = service;
  const pages = new SharePages(clock, (share, period, now) => readShared(service, share, period, now));
  // Read for every request, so that a share ends at once; visitors who come together share one read.
  const open = batchCalls((tokens: string[]) => openShares(sql, tokens, clock()), { overlapAfterMs: 1_000 });
  const clients = new LimitPerKey(maxPerClient, () => retryLater('Too many requests at once: try again in a moment.'));

  async function show(request: Request, share: OpenedShare, token: string, isJson: boolean): Promise<Response> {
    const { headers } = request;
    const language = languageOf(headers);
    if (share.password_hash !== null && !isOpened(webhooks.box, share, headers, clock())) {
      if (isJson) throw new Refusal('unauthorized', 'This page needs its password: open it in a browser.');
      return htmlResponse(401, passwordPage(language), share);
    }
    const period = periodIn(request.url);
    if (isJson) return jsonResponse(200, await pages.get(share, period, 'json', (figures) => JSON.stringify(figures)));
    const path = `/s/${token}`;
    const render = { language, period, path };
    return htmlResponse(200, await pages.get(share, period, language, (found) => statisticsPage(found, render)), share);
  }

  async function tryPassword(request: Request, peer: string, share: OpenedShare, token: string): Promise<Response> {
    const language = languageOf(request.headers);
    const path = `/s/${token}`;
    const back = { status: 303, headers: { ...commonHeaders, location: path } };
    if (share.password_hash === null) return new Response(null, back);
    const { refusal } = await admission.countByAddress(request, peer, `share ${share.id}`, maxTriesPerMinute, 'tries');
    if (refusal !== undefined) return htmlResponse(429, passwordPage(language, 'tooManyTries'), share, refusal.headers);
    const password = (await readForm(request)).get('password') ?? '';
    if (!(await isPassword(password, share.password_hash)))
      return htmlResponse(403, passwordPage(language, 'wrongPassword'), share);
    const response = new Response(null, back);
    for (const cookie of openCookies(webhooks.box, share, path, addresses.publicUrl, clock()))
      response.headers.append('set-cookie', cookie);
    return response;
  }

  async function answer(request: Request, peer: string, name: string): Promise<Response> {
    const [, token, extension] = /^([0-9A-Za-z]{52})(\.json)?$/.exec(name) ?? [];
    const isJson = extension !== undefined;
    const share = token === undefined ? undefined : await open(token);
    if (token === undefined || share === undefined) {
      if (isJson)
        throw new Refusal('not_found', 'There is no such shared page: it has ended, or the link is incomplete.');
      return htmlResponse(404, missingPage(languageOf(request.headers)));
    }
    if (share.is_suspended) return noticeResponse(notices.disabled, request.headers);
    return request.method === 'POST' && !isJson
      ? tryPassword(request, peer, share, token)
      : show(request, share, token, isJson);
  }

  const respond = async ({ request, params, server }: ShareContext): Promise<Response> => {
    const peer = server?.requestIP(request)?.address ?? '';
    const network = subscriberNetwork(clientAddress(peer, request.headers.get('x-forwarded-for'), trustedProxies));
    try {
      if (!isReady()) return noticeResponse(notices.busy, request.headers);
      const client = Buffer.from(network).toString('base64');
      return await clients.run(client, () => answer(request, peer, params.token ?? ''));
    } catch (error) {
      if (error instanceof QueueFull) return noticeResponse(notices.busy, request.headers);
      const refusal = refusalOf(error, log.child({ request_id: requestIdOf(request.headers) }));
      if (refusal.code === 'unavailable') return noticeResponse(notices.busy, request.headers);
      const { status, body, headers } = refusalResponse(refusal);
      return jsonResponse(status, body, headers);
    }
  };
  const unparsed = { parse: 'none' } as const;
  app.get('/s/:token', respond, unparsed);
  app.route('HEAD', '/s/:token', respond, unparsed);
  app.post('/s/:token', respond, unparsed);
}

/** The period that a link chooses; an unknown one is the default, because links are edited by hand. */
function periodIn(url: string): SharePeriod {
  const given = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '').get('period');
  return sharePeriods.find((period) => period === given) ?? defaultSharePeriod;
}

const commonHeaders = {
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex, nofollow',
  'x-content-type-options': 'nosniff',
  // The address of the page is what opens it.
  'referrer-policy': 'no-referrer',
  vary: 'accept-language, cookie',
};

function htmlResponse(
  status: number,
  page: string | Uint8Array<ArrayBuffer>,
  { frame_origins = [] }: { frame_origins?: string[] } = {},
  headers: Record<string, string> = {},
): Response {
  const ancestors = frame_origins.length === 0 ? "'none'" : frame_origins.join(' ');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors ${ancestors}`;
  const own = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
  return new Response(page, { status, headers: { ...commonHeaders, ...own, ...headers } });
}

const jsonResponse = (status: number, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  new Response(body, {
    status,
    headers: { ...commonHeaders, 'content-type': 'application/json; charset=utf-8', ...headers },
  });
