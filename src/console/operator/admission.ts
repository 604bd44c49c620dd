import { type Admission, admitted, type Caller, countInWindow } from '../../accounts/admission.ts';
import { hashOfKey } from '../../accounts/keys.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Queryable } from '../../lib/sql.ts';
import type { Console } from '../context.ts';
import { sessionTokenOf } from '../cookies.ts';
import { isSameOrigin, needsCorsPreflight } from '../same-site.ts';

/** Of one operator, in all accounts. */
const readsPerMinute = 600;
const changesPerMinute = 120;

/**
 * Admits sessions of people who are operators of the service, and rejects requests that other sites caused. The account of the
 * session does not matter: it may be suspended, and the operator may only read in it.
 */
export function operatorAdmission({ service, api, sessionUse }: Console) {
  const { sql, clock, addresses } = service;

  async function refused(request: Request, peer: string, refusal: Refusal): Promise<Admission> {
    const unauthenticated = await api.admission.byAddress(request, peer);
    return { refusal, ...unauthenticated };
  }

  return async (request: Request, peer: string): Promise<Admission> => {
    const isChange = request.method !== 'GET' && request.method !== 'HEAD';
    const isCrossSite = !isSameOrigin(request, addresses.publicUrl) || (isChange && !needsCorsPreflight(request));
    const token = isCrossSite ? undefined : sessionTokenOf(request.headers, addresses.publicUrl);
    const found = token === undefined ? undefined : await findCaller(sql, token, clock());
    if (token === undefined || found === undefined) return refused(request, peer, signedOut());
    const { is_operator, ...caller } = found;
    if (!is_operator) return refused(request, peer, notAnOperator());
    sessionUse.note(hashOfKey(token));
    const window = await countInWindow(sql, `${caller.actor}/${isChange ? 'changes' : 'reads'}`);
    return admitted(isChange ? changesPerMinute : readsPerMinute, window, caller);
  };
}

const signedOut = () => new Refusal('unauthorized', 'Sign in to the console first.');

const notAnOperator = () =>
  new Refusal('insufficient_role', 'This part of the console is for operators of the service only.');

async function findCaller(
  sql: Queryable,
  token: string,
  now: Date,
): Promise<(Caller & { is_operator: boolean }) | undefined> {
  const [found] = await sql<(Caller & { is_operator: boolean })[]>`
    SELECT s.account, 'live' AS mode, a.plan, u.id AS key, u.id AS actor, s.id AS session, NULL AS scopes,
      NULL AS expires_at, NULL AS allowed_cidrs, coalesce(u.is_operator AND u.disabled_at IS NULL, false) AS is_operator
    FROM console_sessions s LEFT JOIN users u ON u.id = s.user_id JOIN accounts a ON a.id = s.account
    WHERE s.hash = ${hashOfKey(token)} AND s.ends_at > ${now}`;
  return found;
}
