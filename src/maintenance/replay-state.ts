import { counters } from '../../projections/counters.ts';
import { applyState, stateTables } from '../../projections/state.ts';
import { Refusal } from '../lib/errors.ts';
import type { Sql, Transaction } from '../log/connect.ts';
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
 * differ from them are replaced in one transaction. Only that transaction blocks appends; reads and writes continue.
 */
export async function replayState(sql: Sql, onProgress: Progress = () => {}): Promise<Replayed> {
  // The transaction that holds the lock stays open and idle until the replay is done.
  return sql.begin(async (holder) => {
    await holder`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const [lock] = await holder<[{ free: boolean }]>`SELECT pg_try_advisory_xact_lock(${locks.replayState}) AS free`;
    if (!lock.free) throw new Refusal('conflict', 'Another replay of the state is under way: wait for it to end.');
    return rebuild(sql, onProgress);
  });
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
    return next.length === batchSize;
  };

  const total = await headOfLog(sql);
  while (await sql.begin(applyNext)) onProgress(position, Math.max(total, position));
  const corrected = await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`SELECT pg_advisory_xact_lock(${locks.append})`;
    while (await applyNext(tx));
    return replaceDifferentRows(tx);
  });
  const recounted = await recountArchivedScans(sql);
  await counters.rebuild(sql);
  await removeAllVisitors(sql);
  onProgress(position, position);
  await sql.unsafe(`DROP SCHEMA ${rebuildSchema} CASCADE`);
  return { events, corrected: corrected + recounted };
}

/** Makes the tables in use equal to the rebuilt ones; returns how many rows differed. */
async function replaceDifferentRows(tx: Transaction): Promise<number> {
  let different = 0;
  for (const [table, key] of Object.entries(stateTables)) {
    const [rebuilt, inUse] = [`SELECT * FROM ${rebuildSchema}.${table}`, `SELECT * FROM public.${table}`];
    const wrong = `SELECT ${key} FROM (${inUse} EXCEPT ${rebuilt}) AS wrong`;
    const removed = await tx.unsafe(`DELETE FROM public.${table} WHERE (${key}) IN (${wrong})`);
    const added = await tx.unsafe(`INSERT INTO public.${table} ${rebuilt} EXCEPT ${inUse}`);
    different += Math.max(removed.count, added.count);
  }
  return different;
}
