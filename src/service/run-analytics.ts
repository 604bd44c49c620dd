import { Analytics } from '../../projections/analytics.ts';
import type { Warehouse } from '../analytics/connect.ts';
import { scanTables } from '../analytics/scan-tables.ts';
import { messageOf } from '../lib/errors.ts';
import { locks } from '../log/locks.ts';
import { readScanText } from '../log/scan-lines.ts';
import { replayAnalytics } from '../maintenance/replay-analytics.ts';
import type { StreamContext } from '../stream/context.ts';
import type { Leadership } from '../stream/leader.ts';
import { runProjection } from '../stream/runner.ts';

/** Keeps the warehouse current, and rebuilds it from the log when it has lost rows. */
export function runAnalytics(context: StreamContext & { warehouse: Warehouse; signal: AbortSignal }): Leadership {
  const { sql, warehouse, signal } = context;
  const log = context.log.child({ projection: 'analytics' });
  const projection = new Analytics({
    sql,
    tables: scanTables(warehouse),
    readScans: (piece) => readScanText(sql, piece),
    async rebuild(why) {
      log.info({ why }, 'rebuilding the warehouse from the log');
      const { scans } = await replayAnalytics({ sql, warehouse, signal });
      log.info({ scans }, 'warehouse rebuilt from the log');
    },
    onFailure(what, error) {
      if (!signal.aborted) log.error({ error: messageOf(error) }, what);
    },
    rebuildAfterMs: warehouse.rebuildAfterMs,
  });
  return runProjection({ ...context, lock: locks.analytics, projection });
}
