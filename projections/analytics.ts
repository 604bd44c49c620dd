import { isScan, type LogRange } from '../events/entry.ts';
import type { ScanLine } from '../events/scan-line.ts';
import type { Sql } from '../src/lib/sql.ts';
import { systemTimers, type Timers } from '../src/lib/timers.ts';
import { createMismatchTimer, type Mismatch, type MismatchTimer, mismatchOf } from './analytics-mismatch.ts';
import { type OnFailure, Removal, type RemovalTimes } from './analytics-removal.ts';
import { Superseded } from './checkpoint.ts';
import { ledger, type WarehouseTable } from './warehouse-ledger.ts';
import { insertText, type ReadScans, type ScanTables, type ScanText } from './warehouse-tables.ts';

export interface AnalyticsOptions {
  sql: Sql;
  tables: ScanTables;
  readScans: ReadScans;
  /** Fills a new table from the log and puts it in use (analytics-rebuild.ts); only one process at a time may do so. */
  rebuild(why: string): Promise<void>;
  /** Called with failures that do not stop the projection. */
  onFailure: OnFailure;
  /** A table is rebuilt once its wrong row counts have not improved for this long. */
  rebuildAfterMs: number;
  /** How often `maintain` checks for rows to remove, and how often it counts the rows. */
  everyMs?: { maintain: number; count: number };
  removal?: RemovalTimes;
  timers?: Pick<Timers, 'now'>;
}

/** Under load, one insert per second: each costs ClickHouse a part of the table and its merges, whatever its size. */
const minInsertIntervalMs = 1_000;
const maxPauseMs = 1_500;

const defaultRemoval: RemovalTimes = {
  everyMs: 30_000,
  maxAhead: 2,
  maxPollMs: 10_000,
  retryFailedMs: 60_000,
  retryAcceptedMs: 3_600_000,
};

/**
 * Scans in ClickHouse, for every analytics read.
 *
 * Applies scans and deletions of codes, whose scans are removed. ClickHouse cannot take part in a Postgres transaction, so
 * the range of an insert is announced in Postgres before it and confirmed after it. The range is also the insert's
 * deduplication token: a range that was announced but not confirmed is inserted again, and ClickHouse ignores duplicates.
 *
 * A table that has lost rows (truncated, restored from an old backup, stored in memory only) is rebuilt from the log. A
 * single wrong count proves nothing, because a replica may lag: the count must stay wrong for `rebuildAfterMs`, and the
 * table stays in use until the new one is complete.
 */
export class Analytics {
  readonly name = 'analytics';
  readonly maxEntries = 20_000;
  readonly #options: AnalyticsOptions;
  readonly #everyMs: { maintain: number; count: number };
  readonly #now: Timers['now'];
  readonly #mismatchTimer: MismatchTimer;
  readonly #removal: Removal;
  #table: WarehouseTable | undefined;
  #lastInsertMs = 0;
  #maintainedAt = Number.NEGATIVE_INFINITY;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AnalyticsOptions) {
    const { sql, tables, onFailure, rebuildAfterMs, removal = defaultRemoval, timers = systemTimers } = options;
    this.#options = options;
    this.#everyMs = options.everyMs ?? { maintain: 1_000, count: 5_000 };
    this.#now = timers.now;
    this.#mismatchTimer = createMismatchTimer(rebuildAfterMs, timers);
    this.#removal = new Removal(sql, tables, { times: removal, timers, onFailure });
  }

  /** At least 3 × the duration of the last insert, so that a slow ClickHouse gets idle time. */
  get pauseMs(): number {
    return Math.min(Math.max(minInsertIntervalMs - this.#lastInsertMs, 3 * this.#lastInsertMs), maxPauseMs);
  }

  async checkpoint(): Promise<number> {
    const { sql } = this.#options;
    const reason = await this.#reasonToRebuild(await ledger.inUse(sql));
    this.#table = reason === undefined ? await ledger.inUse(sql) : await this.#rebuild(reason);
    if (this.#table === undefined) throw new Superseded('the warehouse table in use has just been replaced');
    return this.#table.position;
  }

  async apply({ after, to, entries }: LogRange): Promise<void> {
    const { sql } = this.#options;
    if (this.#table === undefined) throw new Error('apply() needs checkpoint() first');
    const into = { ...this.#table, position: after };
    const scans = await withoutEnded(sql, entries.filter(isScan));
    if (scans.length === 0) await ledger.pass(sql, into, to);
    else {
      const text = { lines: scans.map(({ line }) => `${line}\n`).join(''), count: scans.length };
      await ledger.announceInsert(sql, into, to);
      await this.#insert(into, to, text);
      // Before the checkpoint moves past rows that may be missing.
      await this.#refuseMismatch(into, text.count);
      await ledger.confirmInsert(sql, into, to, text.count);
    }
    this.#table = { ...this.#table, position: to };
  }

  /** Runs between batches: removes scans of deleted codes and old scans, and checks that no row was lost. */
  async maintain(): Promise<void> {
    const now = this.#now();
    if (this.#table === undefined || now - this.#maintainedAt < this.#everyMs.maintain) return;
    this.#maintainedAt = now;
    if (now - this.#countedAt > this.#everyMs.count) await this.#refuseMismatch(this.#table);
    await this.#removal.step();
  }

  async #insert(into: WarehouseTable, to: number, scans: ScanText): Promise<void> {
    const started = this.#now();
    if (scans.count > 0) await insertText(this.#options.tables, into, to, scans);
    this.#lastInsertMs = this.#now() - started;
  }

  /** Repeats an insert that was announced and not confirmed. */
  async #finishInsert(found: WarehouseTable): Promise<void> {
    const { sql, readScans } = this.#options;
    const { position: after, inserting_to: to } = found;
    if (to === null) return;
    const scans = await readScans({ after, to, endedBy: 0 });
    await this.#insert(found, to, scans);
    await ledger.confirmInsert(sql, found, to, scans.count);
  }

  /** Why the table in use must be rebuilt, or undefined; rejects while that is uncertain. */
  async #reasonToRebuild(found: WarehouseTable | undefined): Promise<string | undefined> {
    const { tables, onFailure } = this.#options;
    if (found === undefined) return 'no table is in use';
    if (found.definition !== tables.definition) return 'the table in use has an older definition';
    await tables
      .prepare(found.version)
      .catch((error) =>
        onFailure('the settings of the table in ClickHouse could not be updated, continuing with the old ones', error),
      );
    if (found.inserting_to !== null && (await tables.count(found.version)) !== undefined)
      await this.#finishInsert(found);
    const mismatch = await this.#findMismatch(found);
    if (mismatch === undefined) this.#mismatchTimer.clear();
    else if (!this.#mismatchTimer.isConfirmedBy(mismatch)) throw this.#mismatchError(mismatch);
    return mismatch?.message;
  }

  async #rebuild(why: string): Promise<WarehouseTable> {
    const { sql, rebuild } = this.#options;
    await rebuild(why);
    this.#mismatchTimer.clear();
    const successor = await ledger.inUse(sql);
    if (successor === undefined) throw new Error('the warehouse was rebuilt, but no table is in use');
    return successor;
  }

  /** Compares the row count of a table with the ledger; counts again after a sync, because the first replica may lag. */
  async #findMismatch({ version }: WarehouseTable, justInserted = 0): Promise<Mismatch | undefined> {
    if ((await this.#count(version, justInserted)) === undefined) return undefined;
    await this.#options.tables.sync(version);
    return this.#count(version, justInserted);
  }

  async #refuseMismatch(table: WarehouseTable, justInserted = 0): Promise<void> {
    const mismatch = await this.#findMismatch(table, justInserted);
    if (mismatch !== undefined) throw this.#mismatchError(mismatch);
  }

  async #count(version: number, justInserted: number): Promise<Mismatch | undefined> {
    const { sql, tables } = this.#options;
    const current = await ledger.inUse(sql);
    if (current?.version !== version) throw new Superseded('another warehouse table is in use now');
    this.#countedAt = this.#now();
    return mismatchOf(current, await tables.count(version), justInserted);
  }

  #mismatchError({ message }: Mismatch): Error {
    const seconds = this.#options.rebuildAfterMs / 1_000;
    return new Error(`${message}; counting again, and rebuilding if that does not improve for ${seconds} s`);
  }
}

/** Leaves out scans that follow the deletion of their code in the log, because they waited in a spool. */
async function withoutEnded(sql: Sql, scans: ScanLine[]): Promise<ScanLine[]> {
  if (scans.length === 0) return scans;
  const ends = await ledger.ends(sql, [...new Set(scans.map(({ code }) => code))]);
  if (ends.size === 0) return scans;
  return scans.filter(({ code, position }) => position < (ends.get(code) ?? Number.POSITIVE_INFINITY));
}
