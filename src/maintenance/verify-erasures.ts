import { setTimeout as sleep } from 'node:timers/promises';
import type { ScanCounts } from '../../events/scan-count.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { codeRanges } from './by-code.ts';
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
  const found: Difference[] = [];
  for await (const { after, to } of codeRanges(sql)) {
    const codes = await sql<{ id: string }[]>`
      SELECT id FROM codes WHERE id > ${after} AND id <= ${to} AND account = ANY(${erased})`;
    for (const { id } of codes)
      if (log.has(id)) found.push({ what: 'erasure', code: id, log: `${log.get(id)?.total} scans`, found: 'erased' });
  }
  return found;
}

/** Deleted codes that have visitors whose removal is not scheduled; waits for the counters, which schedule it. */
export async function remainingVisitors(sql: Sql, account: string | undefined): Promise<Difference[]> {
  const deadline = performance.now() + visitorsTimeoutMs;
  const found: Difference[] = [];
  for await (const range of codeRanges(sql)) {
    let codes = await codesWithVisitors(sql, range, account);
    for (; codes.length > 0 && performance.now() < deadline; codes = await codesWithVisitors(sql, range, account))
      await sleep(50);
    found.push(...codes.map((code) => ({ what: 'visitors', code, log: 'deleted', found: 'has visitors' })));
  }
  return found;
}

async function codesWithVisitors(
  sql: Sql,
  { after, to }: { after: string; to: string },
  account: string | undefined,
): Promise<string[]> {
  const codes = await sql<{ id: string }[]>`
    SELECT id FROM codes
    WHERE id > ${after} AND id <= ${to}
      AND status = 'deleted' ${account === undefined ? sql`` : sql`AND account = ${account}`}
      AND EXISTS (SELECT FROM visitors WHERE code_hash = hashtextextended(id, 0))
      AND NOT EXISTS (SELECT FROM visitor_removals WHERE code = id)`;
  return codes.map(({ id }) => id);
}
