import { ledger } from '../../projections/warehouse-ledger.ts';
import type { Queryable } from '../lib/sql.ts';
import { headOfLog } from '../log/read.ts';

export interface Lag {
  projection: string;
  /** The stored position; analytics are at 0 while no table is complete. */
  position: number;
  /** How many entries of the log it has yet to apply. */
  lag: number;
}

/** How far each projection is behind the log, also if no process runs it. */
export async function readLag(sql: Queryable): Promise<{ head: number; projections: Lag[] }> {
  // Before the head: a projection that advances meanwhile must not seem to be ahead.
  const stored = await sql<{ projection: string; position: number }[]>`
    SELECT projection, position FROM checkpoints ORDER BY projection`;
  const table = await ledger.inUse(sql);
  const positions = new Map([
    ...stored.map(({ projection, position }) => [projection, position] as const),
    ['analytics', table?.position ?? 0],
  ]);
  const head = await headOfLog(sql, Math.min(...positions.values()));
  const projections = [...positions].map(([projection, position]) => ({ projection, position, lag: head - position }));
  return { head, projections };
}
