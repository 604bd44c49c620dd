import type { Account, AccountEvent } from '../../events/account.ts';
import { operator } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { notFound } from '../lib/errors.ts';
import { appendPrepared, prepare, VersionTaken } from '../log/append.ts';
import type { Sql, Transaction } from '../log/connect.ts';
import { locks } from '../log/locks.ts';

/**
 * Deletes an account: its keys stop and its short links answer 410 from the commit on, and its data is due to be erased
 * (src/stream/erasure.ts).
 */
export async function deleteAccount(sql: Sql, id: string, now: Date, tries = 2): Promise<void> {
  try {
    await sql.begin((tx) => appendDeletion(tx, id, now));
  } catch (error) {
    if (!(error instanceof VersionTaken) || tries === 1) throw error;
    await deleteAccount(sql, id, now, tries - 1);
  }
}

async function appendDeletion(tx: Transaction, id: string, now: Date): Promise<void> {
  // Waits for creates of codes that were admitted before; those that follow find no account. Before the append, as they do.
  for (const subject of [id, `${id}/test`])
    await tx`SELECT pg_advisory_xact_lock(${locks.quota}, hashtext(${subject}))`;
  const [account] = await tx<(Account & { began_at: number })[]>`
    SELECT a.*, e.position AS began_at FROM accounts a JOIN events e ON e.stream = a.id AND e.version = 1
    WHERE a.id = ${id}`;
  if (account === undefined) throw notFound('account');
  const { began_at, ...before } = account;
  const event: AccountEvent = { type: 'account_deleted', data: {} };
  const pending = prepare([{ stream: id, version: before.version + 1, event }], { actor: operator, now });
  await Promise.all([
    appendPrepared(tx, pending),
    writeState(tx, { accounts: [before] }, pending),
    tx`INSERT INTO erasures (account, requested_at, scans_to) VALUES (${id}, ${now}, ${began_at})`,
  ]);
}
