import { type Progress, rebuildAnalytics } from '../../projections/analytics-rebuild.ts';
import type { Warehouse } from '../analytics/connect.ts';
import { scanTables } from '../analytics/scan-tables.ts';
import { Refusal } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { locks } from '../log/locks.ts';
import { headOfLog } from '../log/read.ts';
import { readScanText } from '../log/scan-lines.ts';

interface ReplayOptions {
  sql: Sql;
  warehouse: Warehouse;
  onProgress?: Progress;
  signal?: AbortSignal;
}

/** An embedded ClickHouse under load may refuse inserts for this long. */
const minRetryMs = 5_000;

/** Rebuilds the warehouse from the log in a new table; throws a `Refusal` while another rebuild runs. */
export async function replayAnalytics({
  sql,
  warehouse,
  onProgress,
  signal,
}: ReplayOptions): Promise<{ scans: number }> {
  // The transaction that holds the lock stays open and idle until the rebuild is done.
  return sql.begin(async (holder) => {
    await holder`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const [lock] = await holder<[{ free: boolean }]>`
      SELECT pg_try_advisory_xact_lock(${locks.replayAnalytics}) AS free`;
    if (!lock.free) throw new Refusal('conflict', 'Another replay of analytics is under way: wait for it to end.');
    return rebuildAnalytics({
      sql,
      tables: scanTables(warehouse),
      readScans: (piece) => readScanText(sql, piece),
      headOfLog: () => headOfLog(sql),
      retryTimeoutMs: Math.max(warehouse.rebuildAfterMs, minRetryMs),
      onProgress,
      signal,
    });
  });
}
