import { counters } from '../../projections/counters.ts';
import { connect } from '../log/connect.ts';
import { locks } from '../log/locks.ts';
import { runErasures } from '../maintenance/run-erasures.ts';
import { runVisitorRemoval } from '../maintenance/visitor-removal.ts';
import type { StreamContext } from '../stream/context.ts';
import type { Leadership } from '../stream/leader.ts';
import { runProjection } from '../stream/runner.ts';

/** Keeps `total_scans` and `unique_scans` current, removes the visitors of deleted codes, and erases deleted accounts. */
export function runCounters(context: StreamContext): Leadership {
  const { sql } = context;
  const projection = {
    name: counters.name,
    async checkpoint() {
      // Returns the position that it has checked: another process may invalidate the counts between two reads.
      for (;;) {
        const position = await counters.checkpoint(sql);
        if (position >= 0) return position;
        await rebuildCounters(context);
      }
    },
    apply: (range: Parameters<typeof counters.apply>[1]) => counters.apply(sql, range),
    maxEntries: 10_000,
    // A transaction of 6 statements for each batch: 5 per second under load cost little and are current enough.
    pauseMs: 200,
  };
  const projecting = runProjection({ ...context, lock: locks.counters, projection });
  const parts = [projecting, runVisitorRemoval(context), runErasures(context)];
  return { stop: async () => void (await Promise.all(parts.map((part) => part.stop()))) };
}

async function rebuildCounters({ databaseUrl, log }: StreamContext): Promise<void> {
  log.warn({ projection: counters.name }, 'the counters have no valid checkpoint: rebuilding them from the log');
  // Counting a long log takes minutes.
  const maintenance = connect(databaseUrl, { max: 1, responseTimeoutMs: 'none' });
  await counters.rebuild(maintenance).finally(() => maintenance.end({ timeout: 1 }));
}
