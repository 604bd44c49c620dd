import type { Sql } from 'postgres';
import { insertText, type ReadScans, type ScanTables } from './analytics.ts';
import { ledger } from './warehouse-ledger.ts';

/** Positions of the log that go into one insert. */
const step = 100_000;
/** Near enough to the head of the log to hold the table in use still for the rest. */
const nearly = 10_000;

export type Progress = (done: number, total: number) => void;

interface Rebuilding {
  sql: Sql<{ bigint: number }>;
  tables: ScanTables;
  readScans: ReadScans;
  headOfLog(): Promise<number>;
  onProgress?: Progress | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Fills a fresh table from the log, beside the one in use, puts it in that one's place, and drops what is not in use any
 * more, be it left over from a rebuild that was interrupted. The caller sees to it that one runs at a time.
 */
export async function rebuildAnalytics(options: Rebuilding): Promise<{ scans: number }> {
  const { sql, tables, readScans, headOfLog, onProgress = () => {}, signal } = options;
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
      if (piece.count > 0) await insertText(tables, { version, position }, upTo, piece);
      position = upTo;
      rows += piece.count;
      onProgress(position, Math.max(head, position));
    }
  }

  while (head - position > nearly) {
    await fill(head);
    head = await headOfLog();
  }
  await ledger.exchange(sql, version, async (to) => {
    await fill(Math.max(to, head));
    if ((await tables.count(version)) !== rows) throw new Error('the new table does not hold what it was given');
    return { position, rows };
  });
  await dropUnused(sql, tables);
  return { scans: rows };
}

async function dropUnused(sql: Sql<{ bigint: number }>, tables: ScanTables): Promise<void> {
  for (const version of await ledger.notInUse(sql)) {
    await tables.drop(version);
    await ledger.forget(sql, version);
  }
}
