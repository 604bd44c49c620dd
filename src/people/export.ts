import type { Queryable } from '../lib/sql.ts';
import { byOf, listChanges } from './security-changes.ts';

/** Everything that is stored about a person, as JSON. Secrets, and hashes of passwords and tokens, are left out. */
export async function exportUser(sql: Queryable, user: string): Promise<Record<string, unknown>> {
  const [person] = await sql<Record<string, unknown>[]>`
    SELECT id, name, email, email_confirmed_at, password_hash IS NOT NULL AS has_password, is_operator, created_at,
      last_signed_in_at, disabled_at
    FROM users WHERE id = ${user}`;
  const memberships = await sql`
    SELECT m.account AS account_id, a.name AS account_name, m.role, m.joined_at
    FROM members m JOIN accounts a ON a.id = m.account WHERE m.user_id = ${user} ORDER BY m.joined_at`;
  const sessions = await sql`
    SELECT id, account AS account_id, device, browser, is_own_device, created_at, last_used_at, ends_at, ended_at
    FROM console_sessions WHERE user_id = ${user} ORDER BY created_at`;
  const invitations = await sql`
    SELECT i.id, i.account AS account_id, i.role, i.created_at, i.expires_at
    FROM invitations i JOIN users u ON lower(u.email) = lower(i.email) WHERE u.id = ${user} ORDER BY i.id`;
  const passkeys = await sql`
    SELECT id, name, created_at, last_used_at FROM user_passkeys WHERE user_id = ${user} ORDER BY created_at`;
  const identities = await sql`
    SELECT issuer, subject, created_at, last_used_at FROM user_identities WHERE user_id = ${user} ORDER BY created_at`;
  const oneTimeCodes = await sql`SELECT created_at, confirmed_at FROM user_totp WHERE user_id = ${user}`;
  const changes = await listChanges(sql, user);
  return {
    passkeys: [...passkeys],
    identities: [...identities],
    one_time_codes: oneTimeCodes[0] ?? null,
    person,
    memberships: [...memberships],
    sessions: [...sessions],
    invitations: [...invitations],
    security_changes: changes.map(({ number: _, actor, ...change }) => ({ ...change, by: byOf(actor, user) })),
  };
}
