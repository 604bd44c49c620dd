import { ledger } from '../../projections/warehouse-ledger.ts';
import { messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Sql } from '../lib/sql.ts';
import { headOfLog } from '../log/read.ts';

const intervalMs = 5_000;

/** Measures the stored position of each projection and how far it is behind the log, also if no process runs it. */
export function measureLag({ sql, log, metrics }: { sql: Sql; log: Logger; metrics: Metrics }): Loop {
  async function measure(): Promise<void> {
    // Before the head: a projection that advances meanwhile must not seem to be ahead.
    const positions = await positionsOf(sql);
    const head = await headOfLog(sql, Math.min(...positions.values()));
    for (const [projection, position] of positions) {
      metrics.projectionPosition.set({ projection }, position);
      metrics.projectionLag.set({ projection }, head - position);
    }
  }
  return every(intervalMs, measure, {
    onError: (error) => log.warn({ error: messageOf(error) }, 'the lag of projections could not be measured'),
    ref: false,
  });
}

/** The stored position of each projection; analytics are at 0 while no table is complete. */
async function positionsOf(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ projection: string; position: number }[]>`SELECT projection, position FROM checkpoints`;
  const table = await ledger.inUse(sql);
  return new Map([
    ...rows.map(({ projection, position }) => [projection, position] as const),
    ['analytics', table?.position ?? 0],
  ]);
}
