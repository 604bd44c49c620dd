import { messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Sql } from '../lib/sql.ts';
import { readLag } from '../stream/lag.ts';

const intervalMs = 5_000;

/** Measures the stored position of each projection and how far it is behind the log, also if no process runs it. */
export function measureLag({ sql, log, metrics }: { sql: Sql; log: Logger; metrics: Metrics }): Loop {
  async function measure(): Promise<void> {
    const { projections } = await readLag(sql);
    for (const { projection, position, lag } of projections) {
      metrics.projectionPosition.set({ projection }, position);
      metrics.projectionLag.set({ projection }, lag);
    }
  }
  return every(intervalMs, measure, {
    onError: (error) => log.warn({ error: messageOf(error) }, 'the lag of projections could not be measured'),
    ref: false,
  });
}
