import type { AccountEvent } from '../events/account.ts';
import type { Pending } from '../events/recorded.ts';
import type { Queryable } from '../src/lib/sql.ts';
import { writeAlert } from './alerts.ts';
import { writeMember } from './members.ts';
import { writeReport } from './reports.ts';
import { writeShare } from './shares.ts';

/** Writes what an event does to the parts of an account that have tables of current state of their own. */
export const writeParts = (sql: Queryable, event: Pending<AccountEvent>): Promise<unknown>[] => [
  ...writeKey(sql, event),
  ...writeLogo(sql, event),
  ...writeShare(sql, event),
  ...writeReport(sql, event),
  ...writeAlert(sql, event),
  ...writeMember(sql, event),
];

function writeKey(sql: Queryable, event: Pending<AccountEvent>): Promise<unknown>[] {
  if (event.type === 'key_revoked')
    return [sql`UPDATE api_keys SET revoked_at = ${event.occurred_at} WHERE id = ${event.data.key}`];
  if (event.type === 'key_rotated') {
    const { key, replaced_by, expires_at } = event.data;
    return [sql`UPDATE api_keys SET replaced_by = ${replaced_by}, expires_at = ${expires_at} WHERE id = ${key}`];
  }
  if (event.type !== 'key_created') return [];
  const { key, name, mode, hash, last4, scopes, expires_at, allowed_cidrs } = event.data;
  return [
    sql`
      INSERT INTO api_keys (id, account, name, mode, hash, last4, created_at, scopes, expires_at, allowed_cidrs)
      VALUES (${key}, ${event.stream}, ${name}, ${mode}, ${hash}, ${last4}, ${event.occurred_at},
        ${scopes}, ${expires_at}, ${allowed_cidrs})`,
  ];
}

function writeLogo(sql: Queryable, event: Pending<AccountEvent>): Promise<unknown>[] {
  if (event.type === 'logo_removed') return [sql`DELETE FROM logos WHERE id = ${event.data.logo}`];
  if (event.type !== 'logo_added') return [];
  const { logo, mode, hash, format, width, height, bytes } = event.data;
  return [
    sql`
      INSERT INTO logos (id, account, mode, hash, format, width, height, bytes, created_at)
      VALUES (${logo}, ${event.stream}, ${mode}, ${hash}, ${format}, ${width}, ${height}, ${bytes}, ${event.occurred_at})`,
  ];
}
