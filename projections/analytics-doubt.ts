import type { WarehouseTable } from './warehouse-ledger.ts';

/** How a row count differs from what the table was given. */
export interface Mismatch {
  /** Rows missing or too many; infinite when the table does not exist. */
  distance: number;
  message: string;
}

/** While a removal is under way, any number of its rows may be gone already. */
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

/**
 * Remembers for how long a table has had wrong counts. A replica that catches up reports counts that come closer, and
 * behind a load balancer several replicas answer in turn: so the time starts again whenever a count is the closest yet.
 */
export function createDoubt(confirmAfterMs: number) {
  let closest: { distance: number; since: number } | undefined;
  return {
    clear(): void {
      closest = undefined;
    },
    /** Whether the loss is certain. */
    isConfirmedBy({ distance }: Mismatch): boolean {
      const now = performance.now();
      if (closest === undefined || distance < closest.distance) closest = { distance, since: now };
      return now - closest.since >= confirmAfterMs;
    },
  };
}
