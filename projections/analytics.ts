import { isScan, type LogRange } from '../events/entry.ts';
import type { ScanLine } from '../events/scan-line.ts';
import type { Sql } from '../src/lib/sql.ts';
import { createDoubt, type Mismatch, mismatchOf } from './analytics-doubt.ts';
import { createRemoval, type RemovalTimes, type Trouble } from './analytics-removal.ts';
import { Superseded } from './checkpoint.ts';
import { ledger, type WarehouseTable } from './warehouse-ledger.ts';
import { insertText, type ReadScans, type ScanTables, type ScanText } from './warehouse-tables.ts';

export interface AnalyticsOptions {
  sql: Sql;
  tables: ScanTables;
  readScans: ReadScans;
  /** Fills a new table from the log and puts it in use (analytics-rebuild.ts), one process of all at a time. */
  rebuild(why: string): Promise<void>;
  /** Hears of what failed without stopping the projection. */
  onTrouble: Trouble;
  /** A table is rebuilt once its wrong row counts have not improved for this long. */
  rebuildAfterMs: number;
  /** How often deleted codes are looked for, and how often rows are counted. */
  everyMs?: { tend: number; count: number };
  removal?: RemovalTimes;
}

/** Batches of at most this, as often as this; with longer pauses after a slow insert, which leaves ClickHouse idle time. */
const most = 20_000;
const lingerMs = { least: 200, most: 1_500 };

const defaultRemoval: RemovalTimes = {
  everyMs: 30_000,
  maxPollMs: 10_000,
  retryFailedMs: 60_000,
  retryAcceptedMs: 3_600_000,
};

/**
 * Scans in ClickHouse, for every analytics read.
 *
 * It takes scans, and the deletion of codes, whose scans leave. ClickHouse has no part in a transaction of Postgres, so
 * the range of an insert is announced in Postgres before it and confirmed after it, and is the insert's token: a range
 * that was announced and not confirmed is inserted again, and ClickHouse drops what it has.
 *
 * A table that does not hold the rows that it was given (emptied, restored from an old backup, in memory only) is
 * rebuilt from the log. A wrong count alone proves nothing, since a replica may lag: it must stay wrong for
 * `rebuildAfterMs`, and the table stays in use until its successor is complete.
 */
export function createAnalytics(options: AnalyticsOptions) {
  const { sql, tables, readScans, rebuild, onTrouble, rebuildAfterMs } = options;
  const { everyMs = { tend: 1_000, count: 5_000 }, removal: removalTimes = defaultRemoval } = options;
  const doubt = createDoubt(rebuildAfterMs);
  const removal = createRemoval(sql, tables, removalTimes, onTrouble);
  let table: WarehouseTable | undefined;
  let tookMs = 0;
  let tendedAt = Number.NEGATIVE_INFINITY;
  let countedAt = Number.NEGATIVE_INFINITY;

  async function send(into: WarehouseTable, to: number, scans: ScanText): Promise<void> {
    const started = performance.now();
    if (scans.count > 0) await insertText(tables, into, to, scans);
    tookMs = performance.now() - started;
  }

  /** Repeats an insert that was announced and not confirmed. */
  async function finishInsert(found: WarehouseTable): Promise<void> {
    const { position: after, inserting_to: to } = found;
    if (to === null) return;
    const scans = await readScans({ after, to, endedBy: 0 });
    await send(found, to, scans);
    await ledger.confirmInsert(sql, found, to, scans.count);
  }

  async function count(version: number, justInserted: number): Promise<Mismatch | undefined> {
    const current = await ledger.inUse(sql);
    if (current?.version !== version) throw new Superseded('another table of the warehouse is in use now');
    countedAt = performance.now();
    return mismatchOf(current, await tables.count(version), justInserted);
  }

  /** How the rows of a table differ from what it was given; counted twice, since the first replica asked may lag. */
  async function findMismatch({ version }: WarehouseTable, justInserted = 0): Promise<Mismatch | undefined> {
    if ((await count(version, justInserted)) === undefined) return undefined;
    await tables.sync(version);
    return count(version, justInserted);
  }

  /** Why the table in use must be rebuilt, if so; rejects while that is not certain. */
  async function reasonToRebuild(found: WarehouseTable | undefined): Promise<string | undefined> {
    if (found === undefined) return 'no table is in use';
    if (found.definition !== tables.definition) return 'the table in use has an older definition';
    await tables.prepare(found.version).catch((error) => onTrouble('settings of the table were not updated', error));
    if (found.inserting_to !== null && (await tables.count(found.version)) !== undefined) await finishInsert(found);
    const mismatch = await findMismatch(found);
    if (mismatch === undefined) doubt.clear();
    else if (!doubt.isConfirmedBy(mismatch)) throw doubtful(mismatch);
    return mismatch?.message;
  }

  const doubtful = ({ message }: Mismatch) =>
    new Error(`${message}; counting again, and rebuilding if that does not improve for ${rebuildAfterMs / 1_000} s`);

  async function rebuilt(why: string): Promise<WarehouseTable> {
    await rebuild(why);
    doubt.clear();
    const successor = await ledger.inUse(sql);
    if (successor === undefined) throw new Error('the warehouse was rebuilt, but no table is in use');
    return successor;
  }

  return {
    name: 'analytics',
    most,
    get lingerMs() {
      return Math.min(Math.max(lingerMs.least, 3 * tookMs), lingerMs.most);
    },

    async checkpoint(): Promise<number> {
      const reason = await reasonToRebuild(await ledger.inUse(sql));
      table = reason === undefined ? await ledger.inUse(sql) : await rebuilt(reason);
      if (table === undefined) throw new Superseded('the table in use has just been exchanged');
      return table.position;
    },

    async apply({ after, to, entries }: LogRange): Promise<void> {
      if (table === undefined) throw new Error('the projection has not begun');
      const into = { ...table, position: after };
      const scans = await withoutEnded(sql, entries.filter(isScan));
      if (scans.length === 0) await ledger.pass(sql, into, to);
      else {
        const text = { lines: scans.map(({ line }) => `${line}\n`).join(''), count: scans.length };
        await ledger.announceInsert(sql, into, to);
        await send(into, to, text);
        // Counted before the checkpoint says that the rows are there.
        const mismatch = await findMismatch(into, text.count);
        if (mismatch !== undefined) throw doubtful(mismatch);
        await ledger.confirmInsert(sql, into, to, text.count);
      }
      table = { ...table, position: to };
    },

    /** Between batches: removes scans of deleted codes and scans that are too old, and checks that no row was lost. */
    async tend(): Promise<void> {
      const now = performance.now();
      if (table === undefined || now - tendedAt < everyMs.tend) return;
      tendedAt = now;
      if (now - countedAt > everyMs.count) {
        const mismatch = await findMismatch(table);
        if (mismatch !== undefined) throw doubtful(mismatch);
      }
      await removal.step();
    },
  };
}

/** A scan that waited on disk may come behind the end of its code: it is in the log, and counts nowhere. */
async function withoutEnded(sql: Sql, scans: ScanLine[]): Promise<ScanLine[]> {
  if (scans.length === 0) return scans;
  const ends = await ledger.ends(sql, [...new Set(scans.map(({ code }) => code))]);
  if (ends.size === 0) return scans;
  return scans.filter(({ code, position }) => position < (ends.get(code) ?? Number.POSITIVE_INFINITY));
}
