import { counters } from '../../projections/counters.ts';
import { locks } from '../log/locks.ts';
import type { StreamContext } from './context.ts';
import type { Leadership } from './leader.ts';
import { runProjection } from './runner.ts';
import { runVisitorRemoval } from './visitor-removal.ts';

/** Keeps `total_scans` and `unique_scans` current, and removes the visitors of deleted codes. */
export function runCounters(context: StreamContext): Leadership {
  const { sql } = context;
  const projection = {
    name: counters.name,
    checkpoint: () => counters.checkpoint(sql),
    apply: (range: Parameters<typeof counters.apply>[1]) => counters.apply(sql, range),
    most: 10_000,
    lingerMs: 0,
  };
  const counting = runProjection({ ...context, lock: locks.counters, projection });
  const removal = runVisitorRemoval(context);
  return { stop: async () => void (await Promise.all([counting.stop(), removal.stop()])) };
}
