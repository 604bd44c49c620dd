import { limitsOf, type Mode, modes } from '../../events/plans.ts';
import {
  type Admission,
  admitted,
  type Caller,
  nextWindow,
  type Standing,
  type Window,
} from '../accounts/admission.ts';
import { joinMember, whySessionEnded } from '../accounts/console-sessions.ts';
import { addressNotAllowed } from '../accounts/key-limits.ts';
import { noteKeyUse } from '../accounts/key-usage.ts';
import { hashOfKey, isValidKey } from '../accounts/keys.ts';
import { proofMinutes } from '../accounts/roles.ts';
import { invalid, Refusal } from '../lib/errors.ts';
import { type Console, pathOf } from './context.ts';
import { sessionTokenOf } from './cookies.ts';
import { sessionEndTexts } from './pages.ts';
import { isSameOrigin, needsCorsPreflight } from './same-site.ts';

type SessionCaller = Caller & Window & Standing & { account_name: string; user_id: string | null };

/** Separate from the plan's limit, so that viewing charts does not consume the account's API requests. */
const readsPerMinute = 600;

/** Authenticates console requests by their session cookie, and rejects requests that other sites caused. */
export function sessionAdmission({ service, api, sessionUse }: Console) {
  const { sql, clock, addresses } = service;
  const keyUse = noteKeyUse(sql);

  async function admitSession(
    token: string,
    { mode, account }: Target,
    request: Request,
    peer: string,
  ): Promise<Admission | undefined> {
    const isRead = isReadOf(request);
    const hash = hashOfKey(token);
    const now = clock();
    const [row] = await sql<SessionCaller[]>`
      WITH caller AS (
        SELECT s.account, coalesce(k.mode, ${mode ?? 'live'}) AS mode, a.plan, a.suspended_reason,
          a.name AS account_name, k.id AS key, coalesce(m.user_id, k.id) AS actor, m.user_id,
          coalesce(m.role, 'owner') AS role, k.scopes, k.expires_at, k.allowed_cidrs, s.id AS session,
          coalesce(s.last_proof_at, s.proven_at) > ${new Date(now.getTime() - proofMinutes * 60_000)} AS "isProven"
        FROM console_sessions s
        JOIN accounts a ON a.id = s.account
        LEFT JOIN api_keys k ON s.user_id IS NULL AND k.id IN (s.live_key, s.test_key) AND ${isValidKey(sql)}
          AND k.mode = coalesce(${mode ?? null}, k.mode)
        ${joinMember(sql)}
        WHERE s.hash = ${hash} AND s.ends_at > ${now} AND (k.id IS NOT NULL OR m.user_id IS NOT NULL)
        ORDER BY k.mode LIMIT 1
      ), counted AS (
        INSERT INTO rate_windows AS w (subject, started_at, used)
        SELECT account || '/' || CASE WHEN ${isRead} THEN 'console' ELSE mode END, clock_timestamp(), 1 FROM caller
        ON CONFLICT (subject) DO UPDATE SET ${nextWindow(sql)}
        RETURNING used, extract(epoch FROM started_at)::float8 + 60 AS ends
      )
      SELECT * FROM caller, counted`;
    if (row === undefined) return undefined;
    const { used, ends, suspended_reason, account_name, user_id, ...found } = row;
    const caller = user_id === null ? found : { ...found, user: user_id };
    const limit = isRead ? readsPerMinute : limitsOf[caller.plan].requestsPerMinute;
    const counted = isRead ? undefined : 'API requests and changes in the console';
    const admission = admitted(limit, { used, ends }, caller, { suspended_reason }, counted);
    if (account !== undefined && account !== caller.account)
      return { rate: admission.rate, refusal: accountChangedRefusal(account_name) };
    if (caller.key !== null && api.admission.networks.isOutside(caller.key, caller, request, peer))
      return { rate: admission.rate, refusal: addressNotAllowed() };
    if (caller.key !== null) keyUse.note(caller.key);
    sessionUse.note(hash);
    return admission;
  }

  async function signedOutRefusal(token: string | undefined, mode: Mode | undefined): Promise<Refusal> {
    const reason = token === undefined ? undefined : await whySessionEnded(sql, token, { mode, now: clock() });
    if (reason !== undefined) return new Refusal('unauthorized', `${sessionEndTexts[reason]} Sign in again.`);
    return new Refusal(
      'unauthorized',
      `Sign in to the console${mode === undefined ? '' : ` with a ${mode} key`} first.`,
    );
  }

  return async (request: Request, peer: string): Promise<Admission> => {
    const token = sessionTokenOf(request.headers, addresses.publicUrl);
    const target = targetOf(request.url);
    const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
    const isCrossSite = !isSameOrigin(request, addresses.publicUrl) || (isWrite && !needsCorsPreflight(request));
    const admission = token === undefined || isCrossSite ? undefined : await admitSession(token, target, request, peer);
    if (admission !== undefined) return admission;
    const unauthenticated = await api.admission.byAddress(request, peer);
    const refusal = isCrossSite ? crossSiteRefusal() : await signedOutRefusal(token, target.mode);
    return { refusal, ...unauthenticated };
  };
}

/** These are POST only because their content may be too long for a URL: they change nothing. */
const readsByPost = ['/console/api/short-codes/check', '/console/api/preflight', '/console/api/sheets'];

const isReadOf = (request: Request) =>
  request.method === 'GET' || request.method === 'HEAD' || readsByPost.includes(pathOf(request));

/** Query parameters of every operation in the console: what the page names as the target of its request. */
export const targetParameters = ['mode', 'account'] as const;

interface Target {
  /** Without one, live mode if the session has a live key, else test mode. */
  mode: Mode | undefined;
  /** The account that the page was loaded for. A sign-in in another tab changes the session's account. */
  account: string | undefined;
}

function targetOf(url: string): Target {
  const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '');
  const [given, account] = [query.get('mode'), query.get('account') ?? undefined];
  const mode = modes.find((candidate) => candidate === given);
  if (given === null || mode !== undefined) return { mode, account };
  throw invalid([{ field: 'mode', message: `mode must be one of ${modes.join(', ')}.` }]);
}

const accountChangedRefusal = (name: string) =>
  new Refusal('account_changed', `You are now signed in to another account, “${name}”. Reload the page to use it.`);

const crossSiteRefusal = () =>
  new Refusal('unauthorized', 'This request did not come from the console. Use /v1 with an API key instead.');
