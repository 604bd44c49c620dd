import type { Sql } from '../src/lib/sql.ts';
import { mismatchOf } from './analytics-doubt.ts';
import { type EndedCode, ledger, type WarehouseTable } from './warehouse-ledger.ts';
import type { CodeKey, ScanTables } from './warehouse-tables.ts';

/** Codes in one statement: their list travels in one field of the URL, which a server limits to about 1,470 codes. */
export const removalChunkSize = 500;
/** Codes in one removal, so that no more than 20 mutations wait in ClickHouse. */
const maxCodes = 10_000;
/** Counts in a row without a row of the codes: behind a load balancer each may come from another replica. */
const countsToConfirm = 2;

/** How often deleted codes are removed (a rewrite of parts), and when a statement is sent again while rows remain. */
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
  codes: CodeKey[];
  failures: number;
  /** When the statement may be sent, or sent again. */
  dueAt: number;
}

/** What this process knows of a removal under way; another process starts with none of it. */
interface Progress {
  version: number;
  to: number;
  chunks: Chunk[];
  emptyCounts: number;
  polls: number;
  pollAt: number;
}

/**
 * Removes the scans of deleted codes, a step at a time: announces how many rows will go, submits statements that
 * ClickHouse completes in the background, and counts until none is left. Inserts go on meanwhile: none of them is of a
 * deleted code. Each statement is sent once; again only after a long time, or by the process that takes over.
 */
export function createRemoval(sql: Sql, tables: ScanTables, times: RemovalTimes, onTrouble: Trouble) {
  let progress: Progress | undefined;
  let announcedAt = Number.NEGATIVE_INFINITY;

  async function announce(table: WarehouseTable): Promise<void> {
    const now = performance.now();
    if (now - announcedAt < times.everyMs) return;
    const ended = await ledger.ended(sql, table.removed_to, table.position, maxCodes);
    const last = ended.at(-1);
    if (last === undefined) return;
    const to = ended.length < maxCodes ? table.position : last.position;
    let rows = 0;
    for (const codes of chunksOf(ended)) rows += await tables.countOf(table.version, codes);
    // What a lagging replica counts would be taken off for good.
    if (mismatchOf(table, await tables.count(table.version)) !== undefined) return;
    await ledger.announceRemoval(sql, table, to, rows);
    announcedAt = now;
  }

  async function progressOf({ version, removed_to }: WarehouseTable, to: number): Promise<Progress> {
    if (progress?.version === version && progress.to === to) return progress;
    const ended = await ledger.ended(sql, removed_to, to);
    const chunks = chunksOf(ended).map((codes) => ({ codes, failures: 0, dueAt: 0 }));
    progress = { version, to, chunks, emptyCounts: 0, polls: 0, pollAt: 0 };
    return progress;
  }

  /** Submits what has to be; resolves to whether any row is left. */
  async function submit({ version, chunks }: Progress): Promise<boolean> {
    let isLeft = false;
    for (const chunk of chunks) {
      const now = performance.now();
      const isDue = chunk.dueAt <= now;
      if (isLeft && !isDue) continue;
      if ((await tables.countOf(version, chunk.codes)) === 0) continue;
      isLeft = true;
      if (!isDue) continue;
      try {
        chunk.dueAt = now + times.retryAcceptedMs;
        await tables.remove(version, chunk.codes);
      } catch (error) {
        chunk.dueAt = now + Math.min(times.retryFailedMs * 2 ** chunk.failures++, times.retryAcceptedMs);
        onTrouble('scans of deleted codes have not left ClickHouse', error);
      }
    }
    return isLeft;
  }

  return {
    /** Takes the next step of a removal, if there is one to take. */
    async step(): Promise<void> {
      const table = await ledger.inUse(sql);
      if (table === undefined) return;
      const { removing_to: to } = table;
      if (to === null) return announce(table);
      const current = await progressOf(table, to);
      if (performance.now() < current.pollAt) return;
      const isLeft = table.removing_rows !== 0 && (await submit(current));
      current.emptyCounts = isLeft ? 0 : current.emptyCounts + 1;
      current.pollAt = isLeft ? performance.now() + Math.min(100 * 2 ** current.polls++, times.maxPollMs) : 0;
      if (current.emptyCounts < countsToConfirm && table.removing_rows !== 0) return;
      await ledger.confirmRemoval(sql, table, to);
      progress = undefined;
    },
  };
}

function chunksOf(ended: EndedCode[]): CodeKey[][] {
  const keys = ended.map(({ id, account, mode }): CodeKey => [account, mode, id]);
  const count = Math.ceil(keys.length / removalChunkSize);
  return Array.from({ length: count }, (_, i) => keys.slice(i * removalChunkSize, (i + 1) * removalChunkSize));
}
