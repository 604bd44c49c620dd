import type { Sql } from '../src/lib/sql.ts';
import { mismatchOf } from './analytics-doubt.ts';
import { type EndedCode, ledger, type WarehouseTable } from './warehouse-ledger.ts';
import type { CodeKey, LeavingRows, ScanTables } from './warehouse-tables.ts';

/** Codes in one statement: their list travels in one field of the URL, which a server limits to about 1,470 codes. */
export const removalChunkSize = 500;
/** Codes in one removal, so that no more than 20 mutations wait in ClickHouse. */
const maxCodes = 10_000;
/** Counts in a row that find nothing left: behind a load balancer each may come from another replica. */
const countsToConfirm = 2;

/** How often rows are removed (a rewrite of parts), and when a statement is sent again while rows remain. */
export interface RemovalTimes {
  everyMs: number;
  /** The time between two counts doubles up to this. */
  maxPollMs: number;
  /** After a statement that failed, and may have arrived all the same. Doubles with each failure up to the next one. */
  retryFailedMs: number;
  /** After a statement that succeeded: its mutation may have been killed. */
  retryAcceptedMs: number;
}

export type Trouble = (what: string, error: unknown) => void;

interface Chunk {
  rows: LeavingRows;
  failures: number;
  /** When the statement may be sent, or sent again. */
  dueAt: number;
}

/** What this process knows of a removal under way; another process starts with none of it. */
interface Progress {
  version: number;
  id: string;
  chunks: Chunk[];
  emptyCounts: number;
  polls: number;
  pollAt: number;
}

/** A removal that the ledger has announced. */
interface Announced {
  id: string;
  /** What leaves, a statement each. */
  rows(): Promise<LeavingRows[]>;
  confirm(): Promise<void>;
}

/**
 * Removes the scans of deleted codes, and those that have left the log by their age, a step at a time: announces how many
 * rows will go, submits statements that ClickHouse completes in the background, and counts until none is left. Inserts go
 * on meanwhile: none of them is of a deleted code, or of a position that the retention has passed. Each statement is sent
 * once; again only after a long time, or by the process that takes over.
 */
export function createRemoval(sql: Sql, tables: ScanTables, times: RemovalTimes, onTrouble: Trouble) {
  let progress: Progress | undefined;
  let announcedAt = Number.NEGATIVE_INFINITY;

  async function announce(table: WarehouseTable): Promise<void> {
    const now = performance.now();
    if (now - announcedAt < times.everyMs) return;
    if ((await announceEnded(table)) || (await announceDrop(table))) announcedAt = now;
  }

  /** How many rows will leave; undefined while the table does not have the rows that it should. */
  async function countLeaving(table: WarehouseTable, leaving: LeavingRows[]): Promise<number | undefined> {
    let rows = 0;
    for (const some of leaving) rows += await tables.countOf(table.version, some);
    // What a lagging replica counts would be taken off for good.
    return mismatchOf(table, await tables.count(table.version)) === undefined ? rows : undefined;
  }

  async function announceEnded(table: WarehouseTable): Promise<boolean> {
    const ended = await ledger.ended(sql, table.removed_to, table.position, maxCodes);
    const last = ended.at(-1);
    if (last === undefined) return false;
    const rows = await countLeaving(table, chunksOf(ended));
    if (rows === undefined) return false;
    await ledger.announceRemoval(sql, table, ended.length < maxCodes ? table.position : last.position, rows);
    return true;
  }

  async function announceDrop(table: WarehouseTable): Promise<boolean> {
    const drop = await ledger.droppedFromLog(sql, table);
    if (drop === undefined) return false;
    const rows = await countLeaving(table, [drop]);
    if (rows === undefined) return false;
    await ledger.announceDrop(sql, table, drop, rows);
    return true;
  }

  function announcedIn(table: WarehouseTable): Announced | undefined {
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

  async function progressOf({ version }: WarehouseTable, { id, rows }: Announced): Promise<Progress> {
    if (progress?.version === version && progress.id === id) return progress;
    const chunks = (await rows()).map((some) => ({ rows: some, failures: 0, dueAt: 0 }));
    progress = { version, id, chunks, emptyCounts: 0, polls: 0, pollAt: 0 };
    return progress;
  }

  /** Submits what has to be; resolves to whether any row is left. */
  async function submit({ version, chunks }: Progress): Promise<boolean> {
    let isLeft = false;
    for (const chunk of chunks) {
      const now = performance.now();
      const isDue = chunk.dueAt <= now;
      if (isLeft && !isDue) continue;
      if ((await tables.countOf(version, chunk.rows)) === 0) continue;
      isLeft = true;
      if (!isDue) continue;
      try {
        chunk.dueAt = now + times.retryAcceptedMs;
        await tables.remove(version, chunk.rows);
      } catch (error) {
        chunk.dueAt = now + Math.min(times.retryFailedMs * 2 ** chunk.failures++, times.retryAcceptedMs);
        onTrouble('scans that must leave ClickHouse could not be removed, trying again', error);
      }
    }
    return isLeft;
  }

  return {
    /** Takes the next step of a removal, if there is one to take. */
    async step(): Promise<void> {
      const table = await ledger.inUse(sql);
      if (table === undefined) return;
      const announced = announcedIn(table);
      if (announced === undefined) return announce(table);
      const current = await progressOf(table, announced);
      if (performance.now() < current.pollAt) return;
      const isLeft = table.removing_rows !== 0 && (await submit(current));
      current.emptyCounts = isLeft ? 0 : current.emptyCounts + 1;
      current.pollAt = isLeft ? performance.now() + Math.min(100 * 2 ** current.polls++, times.maxPollMs) : 0;
      if (current.emptyCounts < countsToConfirm && table.removing_rows !== 0) return;
      await announced.confirm();
      progress = undefined;
    },
  };
}

function chunksOf(ended: EndedCode[]): LeavingRows[] {
  const keys = ended.map(({ id, account, mode }): CodeKey => [account, mode, id]);
  const count = Math.ceil(keys.length / removalChunkSize);
  return Array.from({ length: count }, (_, i) => ({
    codes: keys.slice(i * removalChunkSize, (i + 1) * removalChunkSize),
  }));
}
