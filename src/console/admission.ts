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
} from '../api/admission.ts';
import { noteKeyUse } from '../api/key-usage.ts';
import type { Service } from '../api/service.ts';
import { invalid, Refusal } from '../lib/errors.ts';
import { pathOf } from './context.ts';
import { tokenOf } from './cookies.ts';
import { isFromScript, isOwn } from './same-site.ts';

/** Apart from the plan's window: looking at charts must not use up what the account's programs need. */
const readsPerMinute = 600;

/** Lets requests of the console in: by the cookie of a session, from our own pages only. */
export function sessionAdmission({ sql, clock, addresses }: Service, admission: AdmissionControl) {
  const usage = noteKeyUse(sql);

  async function bySession(token: string, mode: Mode | undefined, isRead: boolean): Promise<Admission | undefined> {
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
    return admitted(limit, { used, ends }, caller, standing, 'requests by programs and changes in the console');
  }

  return async (request: Request, peer: string): Promise<Admission> => {
    const token = tokenOf(request.headers, addresses.publicUrl);
    const mode = modeOf(request.url);
    const isChange = request.method !== 'GET' && request.method !== 'HEAD';
    const isForeign = !isOwn(request, addresses.publicUrl) || (isChange && !isFromScript(request));
    const known = token === undefined || isForeign ? undefined : await bySession(token, mode, isRead(request));
    if (known !== undefined) return known;
    const stranger = await admission.byAddress(request, peer);
    return { refusal: isForeign ? foreign() : signedOut(mode), ...stranger };
  };
}

/** A check of short codes is a POST for the length of its list only: it changes nothing. */
const isRead = (request: Request) =>
  request.method === 'GET' || request.method === 'HEAD' || pathOf(request) === '/console/api/short-codes/check';

/** `mode=live` or `mode=test` in the query, for who is signed in with both; by default live, if that is one of them. */
function modeOf(url: string): Mode | undefined {
  const mode = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '').get('mode');
  if (mode === null || (modes as readonly string[]).includes(mode)) return (mode ?? undefined) as Mode | undefined;
  throw invalid([{ field: 'mode', message: `mode must be one of ${modes.join(', ')}.` }]);
}

const signedOut = (mode: Mode | undefined) =>
  new Refusal('unauthorized', `Sign in to the console${mode === undefined ? '' : ` with a ${mode} key`} first.`);

const foreign = () =>
  new Refusal(
    'unauthorized',
    'This request does not come from the console itself. Programs use /v1 with an API key instead.',
  );
