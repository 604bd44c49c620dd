import { erasedSchema } from '../../events/catalogue.ts';
import { type Code, type CodeEvent, eraseCode } from '../../events/code.ts';
import { operator } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { append } from '../log/append.ts';
import type { Queryable, Sql, Transaction } from '../log/connect.ts';
import { floorOfLog, raiseFloor } from '../log/floor.ts';

/**
 * Erases deleted accounts, in steps that are transactions of their own: any process may take the next one, at any time.
 *
 * 1. Codes: each gets code_deleted, if it has not, and code_erased; all their other events lose their data.
 * 2. Waits until the projections have applied that. Otherwise one that lags would make deliveries, or rows in the
 *    warehouse, from what the stream has of scans that are gone from the log.
 * 3. Deliveries of webhooks.
 * 4. Scans leave the log.
 * 5. What is left, and the data of the account's own events.
 */
export type ErasureStep =
  | { state: 'progressed'; scansTo: number; total: number }
  | { state: 'waiting'; for: string }
  | { state: 'done' };

interface Erasure {
  account: string;
  ended_to: number;
  appended_to: number;
  scans_to: number;
  /** The position of account_deleted. */
  deleted_at: number;
}

/** The append of a chunk holds up all others, for some 30 ms. */
const maxCodes = 200;
const maxDeliveries = 2_000;
/** Positions of the log that are searched for scans at once. */
const maxPositions = 20_000;

export async function pendingErasures(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ account: string }[]>`
    SELECT account FROM erasures WHERE done_at IS NULL ORDER BY requested_at`;
  return rows.map(({ account }) => account);
}

/** Takes the next step of an account's erasure. */
export const eraseNext = (sql: Sql, account: string, now: Date): Promise<ErasureStep> =>
  sql.begin(async (tx): Promise<ErasureStep> => {
    const [erasure] = await tx<Erasure[]>`
      SELECT account, ended_to, appended_to, scans_to,
        (SELECT position FROM events WHERE stream = account AND type = 'account_deleted') AS deleted_at
      FROM erasures WHERE account = ${account} AND done_at IS NULL FOR UPDATE`;
    if (erasure === undefined) return { state: 'done' };
    // The log's triggers let nothing else be changed.
    await tx`SELECT set_config('scanlog.erasing', ${account}, true)`;
    const reached = await positionsOf(tx);
    const progressed: ErasureStep = { state: 'progressed', scansTo: erasure.scans_to, total: reached.counters };
    if (await eraseCodes(tx, erasure, now)) return progressed;
    const late = lagging(erasure, reached);
    if (late !== undefined) return { state: 'waiting', for: late };
    if (await eraseDeliveries(tx, account)) return progressed;
    const to = Math.min(erasure.scans_to + maxPositions, reached.counters);
    await eraseScans(tx, erasure, to);
    if (to < reached.counters) return { ...progressed, scansTo: to };
    if (await hasVisitors(tx, account)) return { state: 'waiting', for: 'the visitors of its codes to be removed' };
    await finish(tx, account, now);
    return { state: 'done' };
  });

async function eraseCodes(tx: Transaction, { account, deleted_at }: Erasure, now: Date): Promise<boolean> {
  // Erased codes have the position of their code_erased, so that those who were deleted before are found by their own.
  const codes = await tx<Code[]>`
    (SELECT * FROM codes WHERE account = ${account} AND status <> 'deleted' LIMIT ${maxCodes})
    UNION ALL
    (SELECT * FROM codes
      WHERE account = ${account} AND mode IN ('live', 'test') AND status = 'deleted' AND position < ${deleted_at}
      LIMIT ${maxCodes})
    LIMIT ${maxCodes}`;
  if (codes.length === 0) return false;
  const ids = codes.map(({ id }) => id);
  // In this order: a process that seals a key at this moment moves it from the first table to the second.
  await tx`DELETE FROM unsealed_visitor_keys WHERE code = ANY(${ids})`;
  await tx`DELETE FROM visitor_keys WHERE code = ANY(${ids})`;
  await tx`UPDATE events SET data = '{}', schema = ${erasedSchema} WHERE stream = ANY(${ids}) AND schema <> ${erasedSchema}`;
  const recorded = await append<CodeEvent>(tx, codes.flatMap(endOf), { actor: operator, now });
  await Promise.all([
    tx`UPDATE events SET schema = ${erasedSchema} WHERE stream = ANY(${ids}) AND type = 'code_deleted'`,
    writeState(
      tx,
      { codes },
      recorded.filter(({ type }) => type === 'code_erased'),
    ),
    tx`
      UPDATE erasures SET
        appended_to = ${recorded.at(-1)?.position ?? 0},
        ended_to = greatest(ended_to, (
          SELECT max(position) FROM events WHERE stream = ANY(${ids}) AND type = 'code_deleted'
        ))
      WHERE account = ${account}`,
  ]);
  return true;
}

function endOf(code: Code): { stream: string; version: number; event: CodeEvent }[] {
  const events: CodeEvent[] = code.status === 'deleted' ? [] : [{ type: 'code_deleted', data: {} }];
  return [...events, eraseCode(code)].map((event, i) => ({ stream: code.id, version: code.version + 1 + i, event }));
}

interface Reached {
  counters: number;
  webhooks: number;
  /** Where the warehouse is, and up to where it has removed the scans of deleted codes. */
  warehouse: number;
  removed: number;
}

async function positionsOf(tx: Transaction): Promise<Reached> {
  const [row] = await tx<[Reached]>`
    SELECT
      coalesce((SELECT position FROM checkpoints WHERE projection = 'counters'), -1) AS counters,
      coalesce((SELECT position FROM checkpoints WHERE projection = 'webhooks'), -1) AS webhooks,
      coalesce((SELECT position FROM warehouse_tables WHERE in_use), -1) AS warehouse,
      coalesce((SELECT removed_to FROM warehouse_tables WHERE in_use), -1) AS removed`;
  return row;
}

function lagging({ deleted_at, appended_to, ended_to }: Erasure, reached: Reached): string | undefined {
  const to = Math.max(deleted_at, appended_to);
  const late = (['counters', 'webhooks', 'warehouse'] as const).find((name) => reached[name] < to);
  if (late !== undefined) return `the ${late} to reach position ${to} of the log`;
  return reached.removed < ended_to ? 'its scans to leave the warehouse' : undefined;
}

async function eraseDeliveries(tx: Transaction, account: string): Promise<boolean> {
  // First the endpoints, like all who lock both.
  await tx`SELECT FROM webhook_endpoints WHERE account = ${account} ORDER BY mode FOR UPDATE`;
  const removed = await tx`
    DELETE FROM webhook_deliveries d
    USING (SELECT account, mode, id FROM webhook_deliveries WHERE account = ${account} LIMIT ${maxDeliveries}) AS chunk
    WHERE d.account = chunk.account AND d.mode = chunk.mode AND d.id = chunk.id`;
  return removed.count > 0;
}

async function eraseScans(tx: Transaction, { account, scans_to }: Erasure, to: number): Promise<void> {
  if (to <= scans_to) return;
  const [row] = await tx<[{ newest: number | null }]>`
    WITH erased AS (
      DELETE FROM scans WHERE position > ${scans_to} AND position <= ${to} AND account = ${account} RETURNING position
    )
    SELECT max(position) AS newest FROM erased`;
  await tx`UPDATE erasures SET scans_to = ${to} WHERE account = ${account}`;
  // The stream still has them, and one of them may have been the end of the log: neither must look like a lost tail.
  if (row.newest !== null && row.newest > (await floorOfLog(tx))) await raiseFloor(tx, row.newest);
}

async function hasVisitors(tx: Transaction, account: string): Promise<boolean> {
  const [row] = await tx`
    SELECT 1 FROM visitor_removals r JOIN codes c ON c.id = r.code WHERE c.account = ${account} LIMIT 1`;
  return row !== undefined;
}

async function finish(tx: Transaction, account: string, now: Date): Promise<void> {
  await tx`
    DELETE FROM key_usage WHERE key IN (
      SELECT data ->> 'key' FROM events WHERE stream = ${account} AND type = 'key_created'
    )`;
  await tx`DELETE FROM rate_windows WHERE starts_with(subject, ${`${account}/`})`;
  for (const table of accountTables) await tx`DELETE FROM ${tx(table)} WHERE account = ${account}`;
  await tx`
    UPDATE events SET data = '{}', schema = ${erasedSchema}
    WHERE stream = ${account} AND type <> 'account_deleted' AND schema <> ${erasedSchema}`;
  await tx`UPDATE erasures SET done_at = ${now} WHERE account = ${account}`;
}

const accountTables = [
  'console_sessions',
  'idempotency_keys',
  'webhook_tests',
  'webhook_secrets',
  'webhook_endpoints',
  'webhook_delivery_counts',
];
