import { randomBytes } from 'node:crypto';
import { createAccount } from '../../src/accounts/accounts.ts';
import { tableName } from '../../src/analytics/tables.ts';
import { remove } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { newId } from '../../src/lib/ids.ts';
import type { SecretBox } from '../../src/lib/secret-box.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { until } from '../../src/stack/processes.ts';
import type { BaseWorld } from './base-world.ts';

const monthsAgo = 14;
const scansPerCode = 500;
/** A read of the embedded ClickHouse takes milliseconds of CPU. */
const pollPauseMs = 250;

/** What became of a month (one partition of the warehouse table) whose only scanned code was deleted. */
export interface EmptiedMonth {
  /** Its scans reached the warehouse. */
  filled: boolean;
  /** They were removed after the deletion. */
  emptied: boolean;
  /** Scans of another code in the same month reached the warehouse afterwards. */
  refilled: boolean;
}

/**
 * Deletes the only code that was scanned in a month. On replicated tables this once made every later read fail, because
 * the last part written with quorum no longer existed.
 */
export async function emptyMonth({ sql, box, clickhouse }: BaseWorld, timeoutMs: number): Promise<EmptiedMonth> {
  if (clickhouse === undefined) throw new Error('this world has no warehouse');
  const { client } = clickhouse.warehouse;
  const now = new Date();
  const { id: account } = await createAccount(sql, { name: 'Empty month', plan: 'enterprise', now });
  const owner = { account, mode: 'live' as const };
  const rowsOf = async (code: string): Promise<number | undefined> => {
    const [table] = await sql<{ version: number }[]>`SELECT version FROM warehouse_tables WHERE in_use`;
    if (table === undefined) return undefined;
    const query = `SELECT toString(count()) AS rows FROM ${tableName(clickhouse.warehouse, table.version)} WHERE code = {code:String}`;
    const result = await client.query({ query, query_params: { code }, format: 'JSONEachRow' });
    const [row] = await result.json<{ rows: string }>();
    return Number(row?.rows);
  };
  // A read may fail while tables are switched or a server restarts, and is retried until the timeout.
  const reaches = (code: string, rows: number) =>
    until(
      () =>
        rowsOf(code).then(
          (found) => found === rows,
          () => false,
        ),
      timeoutMs,
      pollPauseMs,
    );
  const fillMonth = async () => {
    const code = await createScannedCode(sql, box, owner, now);
    return { code, filled: await reaches(code, scansPerCode) };
  };

  const { code, filled } = await fillMonth();
  await remove(sql, owner, code, { actor: 'operator', now: new Date() });
  const emptied = filled && (await reaches(code, 0));
  return { filled, emptied, refilled: emptied && (await fillMonth()).filled };
}

/** Creates a code with scans in a month that has no other scans. */
async function createScannedCode(
  sql: Sql,
  box: SecretBox,
  owner: { account: string; mode: 'live' },
  now: Date,
): Promise<string> {
  const request = { name: 'Empty month', destination_url: 'https://example.com/month' };
  const [created] = await sql.begin((tx) => createCodes(tx, box, owner, [request], { actor: 'operator', now }));
  if (created === undefined) throw new Error('no code was created');
  const occurred_at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 15, 12));
  const scans = Array.from({ length: scansPerCode }, () => ({
    id: newId('scan', occurred_at.getTime()),
    code: created.code.id,
    ...owner,
    occurred_at,
    revision: 1,
    country: 'DE',
    region: 'Berlin',
    city: 'Berlin',
    device: 'ios',
    browser: 'safari',
    is_bot: false,
    visitor: randomBytes(16).toString('hex'),
  }));
  await appendScans(sql, batchOf(newId('batch', now.getTime()), 1, scans));
  return created.code.id;
}
