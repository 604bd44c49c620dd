import type { Sql } from '../src/lib/sql.ts';
import type { Timers } from '../src/lib/timers.ts';
import { mismatchOf } from './analytics-mismatch.ts';
import { type EndedCode, ledger, type WarehouseTable } from './warehouse-ledger.ts';
import type { CodeKey, LeavingRows, ScanTables } from './warehouse-tables.ts';

/** Codes per statement. They are sent in one URL parameter, whose size limit in ClickHouse allows about 1,470 codes. */
export const removalChunkSize = 500;
/** Codes per removal, which limits the pending mutations in ClickHouse to 20. */
const maxCodesPerRemoval = 10_000;
/** Consecutive counts of zero that confirm a removal: a load balancer may send each count to another replica. */
const countsToConfirm = 2;

/** How often rows are removed, and when a statement is sent again while rows remain. */
export interface RemovalTimes {
  /** The mean time between two removals: ClickHouse rewrites whole parts for each. */
  everyMs: number;
  /** How many removals may follow another one without waiting, after as many intervals without any. */
  maxAhead: number;
  /** The time between two counts doubles up to this limit. */
  maxPollMs: number;
  /** Delay after a failed statement, which ClickHouse may have executed anyway. Doubles up to `retryAcceptedMs`. */
  retryFailedMs: number;
  /** Delay after an accepted statement, whose mutation may have been killed. */
  retryAcceptedMs: number;
}

interface RemovalOptions {
  times: RemovalTimes;
  timers: Pick<Timers, 'now'>;
  onFailure: OnFailure;
}

export type OnFailure = (what: string, error: unknown) => void;

interface Chunk {
  rows: LeavingRows;
  failures: number;
  /** The statement is sent, or sent again, at this time. */
  dueAt: number;
}

/** The removal in progress. Only in memory: a process that takes over starts without it. */
interface Progress {
  version: number;
  id: string;
  chunks: Chunk[];
  emptyCounts: number;
  polls: number;
  pollAt: number;
}

/** A removal that is recorded in the ledger and not yet confirmed. */
interface Announced {
  id: string;
  /** The rows to remove, one item per statement. */
  rows(): Promise<LeavingRows[]>;
  confirm(): Promise<void>;
}

/**
 * Removes the scans of deleted codes, and those that the retention has removed from the log. Each call of `step` does the
 * next part: announce the number of rows in the ledger, submit statements that ClickHouse completes in the background, and
 * count until no row is left. Inserts continue meanwhile, because they contain no scan of a deleted code and no position
 * that the retention has passed. A statement is sent again only after `RemovalTimes`, or by a process that takes over.
 */
export class Removal {
  readonly #sql: Sql;
  readonly #tables: ScanTables;
  readonly #times: RemovalTimes;
  readonly #now: Timers['now'];
  readonly #onFailure: OnFailure;
  #progress: Progress | undefined;
  /** When the next removal would be due if they were evenly spaced. */
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(sql: Sql, tables: ScanTables, { times, timers, onFailure }: RemovalOptions) {
    this.#sql = sql;
    this.#tables = tables;
    this.#times = times;
    this.#now = timers.now;
    this.#onFailure = onFailure;
  }

  /** Runs the next step of a removal, if one is due. */
  async step(): Promise<void> {
    const table = await ledger.inUse(this.#sql);
    if (table === undefined) return;
    const announced = announcedIn(this.#sql, table);
    if (announced === undefined) return this.#announce(table);
    const progress = await this.#progressOf(table, announced);
    if (this.#now() < progress.pollAt) return;
    const isLeft = table.removing_rows !== 0 && (await this.#submit(progress));
    progress.emptyCounts = isLeft ? 0 : progress.emptyCounts + 1;
    progress.pollAt = isLeft ? this.#now() + Math.min(100 * 2 ** progress.polls++, this.#times.maxPollMs) : 0;
    if (progress.emptyCounts < countsToConfirm && table.removing_rows !== 0) return;
    await announced.confirm();
    this.#progress = undefined;
  }

  async #announce(table: WarehouseTable): Promise<void> {
    const { everyMs, maxAhead } = this.#times;
    const now = this.#now();
    if (now < this.#nextAt - maxAhead * everyMs) return;
    const isAnnounced =
      (await announceEnded(this.#sql, this.#tables, table)) || (await announceDrop(this.#sql, this.#tables, table));
    if (isAnnounced) this.#nextAt = Math.max(now, this.#nextAt) + everyMs;
  }

  async #progressOf({ version }: WarehouseTable, { id, rows }: Announced): Promise<Progress> {
    if (this.#progress?.version === version && this.#progress.id === id) return this.#progress;
    const chunks = (await rows()).map((chunk) => ({ rows: chunk, failures: 0, dueAt: 0 }));
    this.#progress = { version, id, chunks, emptyCounts: 0, polls: 0, pollAt: 0 };
    return this.#progress;
  }

  /** Submits the statements that are due; resolves to whether any row is left. */
  async #submit({ version, chunks }: Progress): Promise<boolean> {
    const { retryFailedMs, retryAcceptedMs } = this.#times;
    let isLeft = false;
    for (const chunk of chunks) {
      const now = this.#now();
      const isDue = chunk.dueAt <= now;
      if (isLeft && !isDue) continue;
      if ((await this.#tables.countOf(version, chunk.rows)) === 0) continue;
      isLeft = true;
      if (!isDue) continue;
      try {
        chunk.dueAt = now + retryAcceptedMs;
        await this.#tables.remove(version, chunk.rows);
      } catch (error) {
        chunk.dueAt = now + Math.min(retryFailedMs * 2 ** chunk.failures++, retryAcceptedMs);
        this.#onFailure('scans could not be removed from ClickHouse, trying again', error);
      }
    }
    return isLeft;
  }
}

/** Announces the removal of the scans of deleted codes; resolves to whether there is one. */
async function announceEnded(sql: Sql, tables: ScanTables, table: WarehouseTable): Promise<boolean> {
  const ended = await ledger.ended(sql, table.removed_to, table.position, maxCodesPerRemoval);
  const last = ended.at(-1);
  if (last === undefined) return false;
  const rows = await countLeaving(tables, table, chunksOf(ended));
  if (rows === undefined) return false;
  await ledger.announceRemoval(sql, table, ended.length < maxCodesPerRemoval ? table.position : last.position, rows);
  return true;
}

/** Announces the removal of the scans that the retention has removed from the log; resolves to whether there is one. */
async function announceDrop(sql: Sql, tables: ScanTables, table: WarehouseTable): Promise<boolean> {
  const drop = await ledger.droppedFromLog(sql, table);
  if (drop === undefined) return false;
  const rows = await countLeaving(tables, table, [drop]);
  if (rows === undefined) return false;
  await ledger.announceDrop(sql, table, drop, rows);
  return true;
}

/** The number of rows to remove; undefined while the table's row count is wrong. */
async function countLeaving(
  tables: ScanTables,
  table: WarehouseTable,
  leaving: LeavingRows[],
): Promise<number | undefined> {
  let rows = 0;
  for (const chunk of leaving) rows += await tables.countOf(table.version, chunk);
  // The result is subtracted from the ledger for good, so it must not come from a lagging replica.
  return mismatchOf(table, await tables.count(table.version)) === undefined ? rows : undefined;
}

function announcedIn(sql: Sql, table: WarehouseTable): Announced | undefined {
  const { removed_to, removing_to: to, dropping_run: run, dropping_before: before, dropping_to: upTo } = table;
  if (to !== null)
    return {
      id: `codes ${to}`,
      rows: async () => chunksOf(await ledger.ended(sql, removed_to, to)),
      confirm: () => ledger.confirmRemoval(sql, table, to),
    };
  if (run !== null && before !== null && upTo !== null)
    return {
      id: `run ${run}`,
      rows: async () => [{ before, upTo }],
      confirm: () => ledger.confirmDrop(sql, table, run),
    };
  return undefined;
}

function chunksOf(ended: EndedCode[]): LeavingRows[] {
  const keys = ended.map(({ id, account, mode }): CodeKey => [account, mode, id]);
  const count = Math.ceil(keys.length / removalChunkSize);
  return Array.from({ length: count }, (_, i) => ({
    codes: keys.slice(i * removalChunkSize, (i + 1) * removalChunkSize),
  }));
}
