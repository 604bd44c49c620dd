import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../src/lib/sql.ts';
import { ledger } from './warehouse-ledger.ts';
import { insertText, type ReadScans, type ScanTables } from './warehouse-tables.ts';

/** Positions of the log that go into one insert. */
const step = 100_000;
/** Near enough to the head of the log to hold the table in use still for the rest. */
const nearly = 10_000;

export type Progress = (done: number, total: number) => void;

interface Rebuilding {
  sql: Sql;
  tables: ScanTables;
  readScans: ReadScans;
  headOfLog(): Promise<number>;
  /** For how long an insert that fails is repeated, and a replica may lag, before the rebuild is given up. */
  patienceMs: number;
  onProgress?: Progress | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Fills a fresh table from the log, beside the one in use, which is read until then; puts it in that one's place once
 * its rows have been counted; and only then drops what is not in use any more. The caller ensures that one runs at a time.
 */
export async function rebuildAnalytics(options: Rebuilding): Promise<{ scans: number }> {
  const { sql, tables, readScans, headOfLog, patienceMs, onProgress = () => {}, signal } = options;
  await dropUnused(sql, tables);

  let head = await headOfLog();
  const endedBy = head;
  const version = await ledger.add(sql, tables.definition, endedBy);
  // A database that was restored from a backup counts from an older number: one of that name may be left.
  await tables.drop(version);
  await tables.create(version);

  let position = 0;
  let rows = 0;
  /** While ClickHouse takes one piece, Postgres reads the next. */
  async function fill(to: number): Promise<void> {
    const read = (after: number) => {
      const upTo = Math.min(after + step, to);
      const reading = readScans({ after, to: upTo, endedBy });
      // Heard of when it is its turn.
      reading.catch(() => {});
      return { upTo, reading };
    };
    let next = position < to ? read(position) : undefined;
    while (next !== undefined) {
      const { upTo, reading } = next;
      const piece = await reading;
      signal?.throwIfAborted();
      next = upTo < to ? read(upTo) : undefined;
      const after = position;
      // Its token makes a repeated insert harmless, and starting over would read the whole log again.
      if (piece.count > 0)
        await repeated(() => insertText(tables, { version, position: after }, upTo, piece), patienceMs, signal);
      position = upTo;
      rows += piece.count;
      onProgress(position, Math.max(head, position));
    }
  }

  while (head - position > nearly) {
    await fill(head);
    head = await headOfLog();
  }
  const verifyRows = () =>
    repeated(
      async () => {
        const count = await tables.count(version);
        if (count === rows) return;
        await tables.sync(version);
        throw new Error(`the new table scans_v${version} has ${count ?? 'no'} rows, but ${rows} were inserted`);
      },
      patienceMs,
      signal,
    );
  // Before the exchange too, which holds the table in use still.
  await verifyRows();
  await ledger.exchange(sql, version, async (to) => {
    await fill(Math.max(to, head));
    await verifyRows();
    return { position, rows };
  });
  await dropUnused(sql, tables);
  return { scans: rows };
}

const pauseMs = { first: 100, max: 5_000 };

/** Repeats what fails, with longer and longer pauses, until it succeeds or has failed for `patienceMs`. */
async function repeated(work: () => Promise<void>, patienceMs: number, signal: AbortSignal | undefined): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (let pause = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.max)) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() + pause > deadline) throw error;
      await sleep(pause, undefined, signal === undefined ? {} : { signal });
    }
  }
}

async function dropUnused(sql: Sql, tables: ScanTables): Promise<void> {
  for (const version of await ledger.notInUse(sql)) {
    await tables.drop(version);
    await ledger.forget(sql, version);
  }
}
