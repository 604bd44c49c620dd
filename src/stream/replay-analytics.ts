import { type Progress, rebuildAnalytics } from '../../projections/analytics-rebuild.ts';
import { Refusal } from '../lib/errors.ts';
import type { Sql } from '../log/connect.ts';
import { locks } from '../log/locks.ts';
import { headOfLog } from '../log/read.ts';
import { readScanText } from '../log/scan-lines.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { scanTables } from '../warehouse/scan-tables.ts';

interface Replaying {
  sql: Sql;
  warehouse: Warehouse;
  onProgress?: Progress;
  signal?: AbortSignal;
}

/** A busy engine that is part of the same machine may refuse an insert for this long. */
const minPatienceMs = 5_000;

/** Rebuilds the warehouse from the log, beside the table in use; refuses while another rebuild runs. */
export async function replayAnalytics({ sql, warehouse, onProgress, signal }: Replaying): Promise<{ scans: number }> {
  // The lock's own transaction stays open, and idle, until the rebuild is done.
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
      patienceMs: Math.max(warehouse.rebuildAfterMs, minPatienceMs),
      onProgress,
      signal,
    });
  });
}
