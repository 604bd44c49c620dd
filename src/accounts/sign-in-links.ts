import type { Mode } from '../../events/plans.ts';
import { service } from '../../events/recorded.ts';
import { newSecret } from '../lib/ids.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { joinMember, type OpenedSession, openSession, type Proven, type SignInFrom } from './console-sessions.ts';
import { hashOfKey, isValidKey } from './keys.ts';
import { recordFailedSignIn, startedEvents, withSessionEvents } from './session-events.ts';

const linkMinutes = 2;

/** Creates a link that signs in one other device like this session; an earlier one becomes void. */
export async function createSignInLink(
  sql: Sql,
  { sessionToken, account, now }: { sessionToken: string; account: string; now: Date },
): Promise<{ token: string; expires_at: Date }> {
  const token = newSecret();
  const expires_at = new Date(now.getTime() + linkMinutes * 60_000);
  await sql`
    INSERT INTO console_sign_in_links (hash, account, session, expires_at)
    VALUES (${hashOfKey(token)}, ${account}, ${hashOfKey(sessionToken)}, ${expires_at})
    ON CONFLICT (session) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at`;
  return { token, expires_at };
}

/** The account, and the keys or the person, that a link signs in with. */
export interface SignInLink extends Proven {
  account: { id: string; name: string };
  expires_at: Date;
}

interface LinkRow {
  account: string;
  account_name: string;
  id: string | null;
  mode: Mode;
  user_id: string | null;
  proven_at: Date;
  expires_at: Date;
}

/** Finds a link that can be used, without using it up: undefined when it expired, was used, or its session ended. */
export async function findSignInLink(sql: Queryable, token: string, now: Date): Promise<SignInLink | undefined> {
  const rows = await sql<LinkRow[]>`
    SELECT a.id AS account, a.name AS account_name, k.id, k.mode, m.user_id, s.proven_at, l.expires_at
    FROM console_sign_in_links l
    JOIN console_sessions s ON s.hash = l.session AND s.ends_at > ${now}
    JOIN accounts a ON a.id = s.account
    LEFT JOIN api_keys k ON s.user_id IS NULL AND k.id IN (s.live_key, s.test_key) AND ${isValidKey(sql)}
    ${joinMember(sql)}
    WHERE l.hash = ${hashOfKey(token)} AND l.expires_at > ${now} AND (k.id IS NOT NULL OR m.user_id IS NOT NULL)
    ORDER BY k.mode`;
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    account: { id: first.account, name: first.account_name },
    keys: rows.flatMap(({ id, mode }) => (id === null ? [] : [{ id, mode }])),
    user: first.user_id,
    provenAt: first.proven_at,
    expires_at: first.expires_at,
  };
}

/** Uses up a link and signs in the device; undefined when the link cannot be used. */
export async function signInByLink(
  sql: Sql,
  link: string,
  from: SignInFrom,
): Promise<(OpenedSession & { actor: string }) | undefined> {
  const [row] = await sql<{ account: string; mode: Mode }[]>`
    SELECT l.account,
      CASE WHEN s.live_key IS NULL AND s.user_id IS NULL AND s.hash IS NOT NULL THEN 'test' ELSE 'live' END AS mode
    FROM console_sign_in_links l LEFT JOIN console_sessions s ON s.hash = l.session
    WHERE l.hash = ${hashOfKey(link)}`;
  if (row === undefined) return undefined;
  const signedIn = await withSessionEvents(sql, row.account, from.now, async (tx) => {
    const found = await findSignInLink(tx, link, from.now);
    // The deletion decides between concurrent requests with the same link.
    const used = await tx`DELETE FROM console_sign_in_links WHERE hash = ${hashOfKey(link)} RETURNING hash`;
    const actor = found?.user ?? found?.keys[0]?.id;
    if (found === undefined || actor === undefined || used.length === 0) return { result: undefined, events: [] };
    const isNewDevice = found.user !== null;
    const opened = await openSession(tx, found.account.id, found, { ...from, isNewDevice });
    const result = opened === undefined ? undefined : { ...opened, actor };
    return { result, events: startedEvents(opened, actor, { by: 'link', isNewDevice }) };
  });
  if (signedIn === undefined) {
    const failed = { actor: service, mode: row.mode, reason: 'link_expired' } as const;
    await recordFailedSignIn(sql, row.account, failed, from.now);
  }
  return signedIn;
}
