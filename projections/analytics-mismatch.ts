import { systemTimers, type Timers } from '../src/lib/timers.ts';
import type { WarehouseTable } from './warehouse-ledger.ts';

/** The difference between a row count and the rows that were inserted. */
export interface Mismatch {
  /** Number of missing or excess rows; infinite when the table does not exist. */
  distance: number;
  message: string;
}

/** Undefined when the count is right. During a removal, any number of its rows may already be gone. */
export function mismatchOf(
  { version, rows, removing_rows }: WarehouseTable,
  count: number | undefined,
  justInserted = 0,
): Mismatch | undefined {
  if (count === undefined)
    return { distance: Number.POSITIVE_INFINITY, message: `ClickHouse has no table scans_v${version}` };
  const max = rows + justInserted;
  const min = max - (removing_rows ?? 0);
  const distance = Math.max(min - count, count - max, 0);
  if (distance === 0) return undefined;
  const expected = min === max ? String(max) : `${min} to ${max}`;
  return { distance, message: `scans_v${version} has ${count} rows, but ${expected} were inserted` };
}

export type MismatchTimer = ReturnType<typeof createMismatchTimer>;

/**
 * Measures how long a table has had wrong counts. The time restarts whenever a count is closer than all before, because a
 * replica that catches up reports improving counts, and a load balancer alternates between replicas.
 */
export function createMismatchTimer(confirmAfterMs: number, { now }: Pick<Timers, 'now'> = systemTimers) {
  let closest: { distance: number; since: number } | undefined;
  return {
    clear(): void {
      closest = undefined;
    },
    /** Whether counts have been wrong without improvement for `confirmAfterMs`, so that rows are lost. */
    isConfirmedBy({ distance }: Mismatch): boolean {
      const countedAt = now();
      if (closest === undefined || distance < closest.distance) closest = { distance, since: countedAt };
      return countedAt - closest.since >= confirmAfterMs;
    },
  };
}
