import { setTimeout as sleep } from 'node:timers/promises';
import type { ScanCounts } from '../../events/scan-count.ts';
import type { Queryable, Sql } from '../log/connect.ts';
import type { Difference } from './scan-counts.ts';

/** A scan of a deleted code that arrives during the verification has visitors until the counters have applied it. */
const visitorsTimeoutMs = 5_000;

/** Accounts whose erasure is done. The counters reopen an erasure when they apply a later scan of the account. */
export async function erasedAccounts(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ account: string }[]>`SELECT account FROM erasures WHERE done_at IS NOT NULL`;
  return rows.map(({ account }) => account);
}

/** Scans in the log of accounts whose erasure is done. */
export async function remainingScans(sql: Sql, erased: string[], log: ScanCounts): Promise<Difference[]> {
  if (erased.length === 0) return [];
  const codes = await sql<{ id: string }[]>`
    SELECT id FROM codes WHERE id = ANY(${[...log.keys()]}) AND account = ANY(${erased})`;
  return codes.map(({ id }) => ({ what: 'erasure', code: id, log: `${log.get(id)?.total} scans`, found: 'erased' }));
}

/** Deleted codes that have visitors whose removal is not scheduled; waits for the counters, which schedule it. */
export async function remainingVisitors(sql: Sql, account: string | undefined): Promise<Difference[]> {
  const deadline = performance.now() + visitorsTimeoutMs;
  for (;;) {
    const codes = await sql<{ id: string }[]>`
      SELECT id FROM codes
      WHERE status = 'deleted' ${account === undefined ? sql`` : sql`AND account = ${account}`}
        AND EXISTS (SELECT FROM visitors WHERE code_hash = hashtextextended(id, 0))
        AND NOT EXISTS (SELECT FROM visitor_removals WHERE code = id)`;
    if (codes.length === 0 || performance.now() > deadline)
      return codes.map(({ id }) => ({ what: 'visitors', code: id, log: 'deleted', found: 'has visitors' }));
    await sleep(50);
  }
}
