import { hashOfKey } from '../accounts/keys.ts';
import { Refusal } from '../lib/errors.ts';
import { newSecret } from '../lib/ids.ts';
import type { Queryable } from '../lib/sql.ts';

/** What a one-time link does, each with the page that it opens. */
export const linkKinds = ['setup', 'invitation', 'reset', 'confirm'] as const;
export type LinkKind = (typeof linkKinds)[number];

const hourMs = 3_600_000;
const lifetimeMs: Record<LinkKind, number> = {
  setup: 24 * hourMs,
  invitation: 7 * 24 * hourMs,
  reset: 24 * hourMs,
  confirm: 24 * hourMs,
};

interface LinkSubject {
  user?: string;
  account?: string;
  invitation?: string;
  /** The address that the link is mailed to, if it is. */
  email?: string;
}

export interface NewLink {
  token: string;
  expires_at: Date;
}

/** Creates a link. Only the hash of its token is stored. */
export async function createLink(
  sql: Queryable,
  kind: LinkKind,
  { user, account, invitation, email }: LinkSubject,
  now: Date,
): Promise<NewLink> {
  const token = newSecret();
  const expires_at = new Date(now.getTime() + lifetimeMs[kind]);
  await sql`
    INSERT INTO one_time_links (hash, kind, user_id, account, invitation, email, created_at, expires_at)
    VALUES (${hashOfKey(token)}, ${kind}, ${user ?? null}, ${account ?? null}, ${invitation ?? null}, ${email ?? null}, ${now},
      ${expires_at})`;
  return { token, expires_at };
}

/** The token is in the fragment, which browsers send to no server, so that it is in no log of a proxy. */
export const urlOfLink = (publicUrl: string, kind: LinkKind, token: string): string =>
  `${publicUrl}/console/${kind}#${token}`;

export interface Link {
  user_id: string | null;
  account: string | null;
  invitation: string | null;
  email: string | null;
}

/** Finds a link that can be used, without using it up. */
export async function findLink(sql: Queryable, kind: LinkKind, token: string, now: Date): Promise<Link | undefined> {
  const [link] = await sql<Link[]>`
    SELECT user_id, account, invitation, email FROM one_time_links
    WHERE hash = ${hashOfKey(token)} AND kind = ${kind} AND expires_at > ${now} AND used_at IS NULL`;
  return link;
}

/** Uses up a link, as part of what it does: of concurrent requests with the same link, one succeeds. Throws 404. */
export async function useUpLink(tx: Queryable, kind: LinkKind, token: string, now: Date): Promise<void> {
  const used = await tx`
    UPDATE one_time_links SET used_at = ${now}
    WHERE hash = ${hashOfKey(token)} AND kind = ${kind} AND expires_at > ${now} AND used_at IS NULL RETURNING hash`;
  if (used.length === 0) throw voidLink();
}

/** Voids the links that would set a new password of a person. */
export async function deleteResetLinks(sql: Queryable, user: string): Promise<void> {
  await sql`DELETE FROM one_time_links WHERE user_id = ${user} AND kind = 'reset'`;
}

export const voidLink = () =>
  new Refusal('not_found', 'This link has expired or was already used. Ask for another one.');
