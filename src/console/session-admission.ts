import { limitsOf, type Mode, modes } from '../../events/plans.ts';
import { hashOfKey } from '../accounts/accounts.ts';
import {
  type Admission,
  type AdmissionControl,
  admitted,
  type Caller,
  nextWindow,
  type Standing,
  type Window,
} from '../accounts/admission.ts';
import { noteKeyUse } from '../accounts/key-usage.ts';
import type { Service } from '../api/service.ts';
import { invalid, Refusal } from '../lib/errors.ts';
import { pathOf } from './context.ts';
import { sessionTokenOf } from './cookies.ts';
import { isSameOrigin, needsCorsPreflight } from './same-site.ts';

/** Separate from the plan's limit, so that viewing charts does not consume the account's API requests. */
const readsPerMinute = 600;

/** Authenticates console requests by their session cookie, and rejects requests that other sites caused. */
export function sessionAdmission({ sql, clock, addresses }: Service, control: AdmissionControl) {
  const usage = noteKeyUse(sql);

  async function admitSession(token: string, mode: Mode | undefined, isRead: boolean): Promise<Admission | undefined> {
    const [row] = await sql<(Caller & Window & Standing)[]>`
      WITH caller AS (
        SELECT k.account, k.mode, a.plan, a.suspended_reason, k.id AS key
        FROM console_sessions s
        JOIN api_keys k ON k.id IN (s.live_key, s.test_key) AND k.revoked_at IS NULL
        JOIN accounts a ON a.id = k.account
        WHERE s.hash = ${hashOfKey(token)} AND s.ends_at > ${clock()}
          AND k.mode = coalesce(${mode ?? null}, k.mode)
        ORDER BY k.mode LIMIT 1
      ), counted AS (
        INSERT INTO rate_windows AS w (subject, started_at, used)
        SELECT account || '/' || CASE WHEN ${isRead} THEN 'console' ELSE mode END, clock_timestamp(), 1 FROM caller
        ON CONFLICT (subject) DO UPDATE SET ${nextWindow(sql)}
        RETURNING used, extract(epoch FROM started_at)::float8 + 60 AS ends
      )
      SELECT * FROM caller, counted`;
    if (row === undefined) return undefined;
    const { used, ends, suspended_reason, ...caller } = row;
    usage.note(caller.key);
    const standing = { suspended_reason };
    if (isRead) return admitted(readsPerMinute, { used, ends }, caller, standing);
    const limit = limitsOf[caller.plan].requestsPerMinute;
    return admitted(limit, { used, ends }, caller, standing, 'API requests and changes in the console');
  }

  return async (request: Request, peer: string): Promise<Admission> => {
    const token = sessionTokenOf(request.headers, addresses.publicUrl);
    const mode = modeOf(request.url);
    const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
    const isCrossSite = !isSameOrigin(request, addresses.publicUrl) || (isWrite && !needsCorsPreflight(request));
    const admission = token === undefined || isCrossSite ? undefined : await admitSession(token, mode, isRead(request));
    if (admission !== undefined) return admission;
    const unauthenticated = await control.byAddress(request, peer);
    return { refusal: isCrossSite ? crossSiteRefusal() : signedOutRefusal(mode), ...unauthenticated };
  };
}

/** The short code check is a POST only because its list may be too long for a URL: it changes nothing. */
const isRead = (request: Request) =>
  request.method === 'GET' || request.method === 'HEAD' || pathOf(request) === '/console/api/short-codes/check';

/** Names the mode of a request. Every operation accepts it in the console, where it takes the place of the key's mode. */
export const modeParameter = 'mode';

/** The mode named in the query; without one, live mode if the session has a live key, else test mode. */
function modeOf(url: string): Mode | undefined {
  const mode = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '').get(modeParameter);
  if (mode === null || (modes as readonly string[]).includes(mode)) return (mode ?? undefined) as Mode | undefined;
  throw invalid([{ field: 'mode', message: `mode must be one of ${modes.join(', ')}.` }]);
}

const signedOutRefusal = (mode: Mode | undefined) =>
  new Refusal('unauthorized', `Sign in to the console${mode === undefined ? '' : ` with a ${mode} key`} first.`);

const crossSiteRefusal = () =>
  new Refusal('unauthorized', 'This request did not come from the console. Use /v1 with an API key instead.');
