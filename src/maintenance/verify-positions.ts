import { setTimeout as sleep } from 'node:timers/promises';
import { mismatchOf } from '../../projections/analytics-mismatch.ts';
import { counters } from '../../projections/counters.ts';
import { ledger } from '../../projections/warehouse-ledger.ts';
import type { Warehouse } from '../analytics/connect.ts';
import { countRows } from '../analytics/tables.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import type { Difference } from './scan-counts.ts';
import { positionOfDeliveries } from './verify-deliveries.ts';

/** Waits until the projections have reached `head`; resolves to those that have not after the timeout. */
export async function awaitProjections(
  sql: Sql,
  warehouse: Warehouse,
  head: number,
  timeoutMs: number,
): Promise<Difference[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const reached = {
      counters: await positionOfCounters(sql),
      webhooks: await positionOfDeliveries(sql),
      warehouse: await positionOfWarehouse(sql, warehouse),
    };
    const late = Object.entries(reached).filter(([, position]) => position === undefined || position < head);
    if (late.length === 0) return [];
    if (performance.now() > deadline)
      return late.map(([what, position]) => ({
        what,
        code: 'all',
        log: `ends at position ${head}`,
        found: position === undefined ? 'incomplete, or being rebuilt' : `is at position ${position}`,
      }));
    await sleep(50);
  }
}

/** Undefined while the row count of the table is wrong: the projection will detect that and rebuild it. */
async function positionOfWarehouse(sql: Sql, warehouse: Warehouse): Promise<number | undefined> {
  const table = await ledger.inUse(sql);
  if (table === undefined) return undefined;
  const mismatch = mismatchOf(table, await countRows(warehouse, table.version));
  // The rows of an insert in progress may already be there.
  return mismatch === undefined || table.inserting_to !== null ? table.position : undefined;
}

export async function positionOfCounters(sql: Queryable): Promise<number> {
  const [row] = await sql<{ position: number }[]>`SELECT position FROM checkpoints WHERE projection = ${counters.name}`;
  return row?.position ?? 0;
}
