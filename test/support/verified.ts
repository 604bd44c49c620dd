import { expect } from 'vitest';
import type { Warehouse } from '../../src/analytics/connect.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { verify } from '../../src/maintenance/verify.ts';

/** Waits until all projections have caught up with the log, and compares them with it. */
export async function expectAllAgree(sql: Sql, warehouse: Warehouse, now = new Date()): Promise<void> {
  const { differences } = await verify({ sql, warehouse, now });
  expect(differences).toEqual([]);
}
