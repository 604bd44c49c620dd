import { counters } from '../../projections/counters.ts';
import { applyState, stateTables } from '../../projections/state.ts';
import { Refusal } from '../lib/errors.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { locks } from '../log/locks.ts';
import { headOfLog, readEvents } from '../log/read.ts';
import { recountArchivedScans } from './recount-archive.ts';
import { removeAllVisitors } from './visitor-removal.ts';

const rebuildSchema = 'state_rebuild';
const batchSize = 1_000;

type Progress = (done: number, total: number) => void;

interface Replayed {
  events: number;
  /** Rows that differed from the log. */
  corrected: number;
}

/**
 * Rebuilds current state and the scan counters from the log. State is rebuilt in separate tables, and rows in use that
 * differ from them are replaced in one transaction. Only changes of these rows wait for it.
 */
export async function replayState(sql: Sql, onProgress: Progress = () => {}): Promise<Replayed> {
  // The transaction that holds the lock stays open and idle until the replay is done.
  return sql.begin(async (holder) => {
    await holder`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const [lock] = await holder<[{ free: boolean }]>`SELECT pg_try_advisory_xact_lock(${locks.replayState}) AS free`;
    if (!lock.free)
      throw new Refusal('conflict', 'Another replay of the state or an import is under way: wait for it to end.');
    await refuseUnfinished(holder);
    return rebuild(sql, onProgress);
  });
}

/** The log has a part of the account only, whose rows are complete. */
async function refuseUnfinished(tx: Transaction): Promise<void> {
  const [unfinished] = await tx<
    { account: string }[]
  >`SELECT account FROM account_imports WHERE done_at IS NULL LIMIT 1`;
  if (unfinished !== undefined)
    throw new Refusal(
      'conflict',
      `The import of ${unfinished.account} is not complete: run ./scanlog account import with its file again first.`,
    );
}

async function rebuild(sql: Sql, onProgress: Progress): Promise<Replayed> {
  await sql.unsafe(`DROP SCHEMA IF EXISTS ${rebuildSchema} CASCADE; CREATE SCHEMA ${rebuildSchema}`);
  for (const table of Object.keys(stateTables))
    await sql.unsafe(`CREATE TABLE ${rebuildSchema}.${table} (LIKE public.${table} INCLUDING ALL)`);

  let position = 0;
  let events = 0;
  const applyNext = async (tx: Transaction): Promise<boolean> => {
    await tx.unsafe(`SET LOCAL search_path = ${rebuildSchema}, public`);
    const next = await readEvents(tx, position, batchSize);
    await applyState(tx, next);
    position = next.at(-1)?.position ?? position;
    events += next.length;
    return next.length > 0;
  };

  const total = await headOfLog(sql);
  while (await sql.begin(applyNext)) onProgress(position, Math.max(total, position));
  // One snapshot of the log and of the tables, which change together: what differs in it is wrong.
  const different = await sql.begin('isolation level repeatable read', async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    while (await applyNext(tx));
    return findDifferentRows(tx);
  });
  const corrected = different.reduce((sum, { keys }) => sum + keys.length, 0);
  if (corrected > 0) await sql.begin((tx) => replaceRows(tx, different, applyNext));
  const recounted = await recountArchivedScans(sql);
  await counters.rebuild(sql);
  await removeAllVisitors(sql);
  onProgress(position, position);
  await sql.unsafe(`DROP SCHEMA ${rebuildSchema} CASCADE`);
  return { events, corrected: corrected + recounted };
}

type StateTable = keyof typeof stateTables;

/** Primary keys of rows, as objects. */
interface DifferentRows {
  table: StateTable;
  keys: Record<string, string>[];
}

/** The rows of the tables in use that are not equal to the rebuilt ones. */
async function findDifferentRows(tx: Transaction): Promise<DifferentRows[]> {
  await keepOrder(tx);
  const different: DifferentRows[] = [];
  for (const table of Object.keys(stateTables) as StateTable[]) {
    const [rebuilt, inUse] = [`SELECT * FROM ${rebuildSchema}.${table}`, `SELECT * FROM public.${table}`];
    const keys = await tx.unsafe<Record<string, string>[]>(
      `SELECT DISTINCT ${stateTables[table]} FROM ((${inUse} EXCEPT ${rebuilt}) UNION ALL (${rebuilt} EXCEPT ${inUse})) AS wrong`,
    );
    if (keys.length > 0) different.push({ table, keys: [...keys] });
  }
  return different;
}

/**
 * Rows of codes are written with the positions that their events were expected to get (src/log/expected-positions.ts), which
 * give the same order.
 */
async function keepOrder(tx: Transaction): Promise<void> {
  await tx.unsafe(`
    UPDATE ${rebuildSchema}.codes r SET position = c.position FROM public.codes c
    WHERE c.id = r.id AND c.position < r.position`);
}

/**
 * Replaces rows in use by the rebuilt ones. A change locks the rows that it writes before it appends its event: while these
 * are locked, the log gets no event of theirs, and everything else goes on.
 */
async function replaceRows(
  tx: Transaction,
  different: DifferentRows[],
  applyNext: (tx: Transaction) => Promise<boolean>,
): Promise<void> {
  await tx`SET LOCAL statement_timeout = 0`;
  const among = (table: StateTable) =>
    `(${stateTables[table]}) IN (SELECT ${stateTables[table]} FROM jsonb_populate_recordset(NULL::public.${table}, $1::jsonb))`;
  for (const { table, keys } of different) {
    // In the order of projections/state.ts.
    const order = table === 'codes' ? 'short_code' : stateTables[table];
    await tx.unsafe(`SELECT FROM public.${table} WHERE ${among(table)} ORDER BY ${order} FOR UPDATE`, [tx.json(keys)]);
  }
  while (await applyNext(tx));
  await keepOrder(tx);
  for (const { table, keys } of different) {
    await tx.unsafe(`DELETE FROM public.${table} WHERE ${among(table)}`, [tx.json(keys)]);
    await tx.unsafe(`INSERT INTO public.${table} SELECT * FROM ${rebuildSchema}.${table} WHERE ${among(table)}`, [
      tx.json(keys),
    ]);
  }
}
