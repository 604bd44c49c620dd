import { randomBytes } from 'node:crypto';
import { createAccount } from '../accounts/accounts.ts';
import { remove } from '../codes/change.ts';
import { createCodes } from '../codes/create.ts';
import { newId } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { appendScans, batchOf } from '../log/append-scans.ts';
import type { Sql } from '../log/connect.ts';
import { until } from '../stack/processes.ts';
import { tableName } from '../warehouse/tables.ts';
import type { Stage } from './given-world.ts';

const monthsAgo = 14;
const scansOfMonth = 500;

/** What became of a month, which is a partition in the warehouse, whose only code was deleted. */
export interface EmptiedMonth {
  /** Its scans came into the warehouse. */
  filled: boolean;
  /** They left it again after the deletion. */
  emptied: boolean;
  /** Scans of another code in the same month came into the warehouse after that. */
  refilled: boolean;
}

/**
 * Deletes the only code that was scanned in a month. On replicated tables this once made every later read fail, since
 * the part that the quorum remembered was gone.
 */
export async function emptyMonth({ sql, box, clickhouse }: Stage, timeoutMs: number): Promise<EmptiedMonth> {
  if (clickhouse === undefined) throw new Error('there is no warehouse');
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
  // While a table is exchanged, or a server of the cluster restarts, a read may fail; it must succeed in the end.
  const has = (code: string, rows: number) =>
    until(
      () =>
        rowsOf(code).then(
          (found) => found === rows,
          () => false,
        ),
      timeoutMs,
    );
  const scanned = async () => {
    const code = await scannedLongAgo(sql, box, owner, now);
    return { code, filled: await has(code, scansOfMonth) };
  };

  const { code, filled } = await scanned();
  await remove(sql, owner, code, { actor: 'operator', now: new Date() });
  const emptied = filled && (await has(code, 0));
  return { filled, emptied, refilled: emptied && (await scanned()).filled };
}

/** A code with scans in a month that nothing else has scans in. */
async function scannedLongAgo(
  sql: Sql,
  box: SecretBox,
  owner: { account: string; mode: 'live' },
  now: Date,
): Promise<string> {
  const request = { name: 'Empty month', destination_url: 'https://example.com/month' };
  const [made] = await sql.begin((tx) => createCodes(tx, box, owner, [request], { actor: 'operator', now }));
  if (made === undefined) throw new Error('no code was created');
  const occurred_at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 15, 12));
  const scans = Array.from({ length: scansOfMonth }, () => ({
    ...{ id: newId('scan', occurred_at.getTime()), code: made.code.id, ...owner, occurred_at, revision: 1 },
    ...{ country: 'DE', region: 'Berlin', city: 'Berlin', device: 'ios', browser: 'safari', is_bot: false },
    visitor: randomBytes(16).toString('hex'),
  }));
  await appendScans(sql, batchOf(newId('batch', now.getTime()), 1, scans));
  return made.code.id;
}
