import type { Sql } from 'postgres';
import { isScan, type LogRange } from '../events/entry.ts';
import { lineFields, type ScanLine } from '../events/scan-line.ts';
import { Superseded } from './superseded.ts';
import { ledger, type WarehouseTable } from './warehouse-ledger.ts';

/** The tables of the warehouse, by their versions. */
export interface ScanTables {
  /** Which shape new ones have. */
  definition: number;
  create(version: number): Promise<void>;
  drop(version: number): Promise<void>;
  /** Rows of a table; undefined when there is no such table. */
  count(version: number): Promise<number | undefined>;
  countOf(version: number, codes: CodeKey[]): Promise<number>;
  /** Adds rows, once for each token. */
  insert(version: number, scans: { fields: readonly string[]; lines: string }, token: string): Promise<void>;
  remove(version: number, codes: CodeKey[]): Promise<void>;
}

/** Scans as lines of `events/scan-line.ts`, each with its line break. */
export interface ScanText {
  lines: string;
  count: number;
}

/** Scans straight from the log, without those that come behind the end of their code or of codes ended by `endedBy`. */
export type ReadScans = (piece: { after: number; to: number; endedBy: number }) => Promise<ScanText>;

export type CodeKey = [account: string, mode: string, code: string];

export interface AnalyticsOptions {
  sql: Sql<{ bigint: number }>;
  tables: ScanTables;
  readScans: ReadScans;
  /** Makes a table anew from the log and puts it in use (analytics-rebuild.ts), one process of all at a time. */
  rebuild(why: string): Promise<void>;
  onTrouble(error: unknown): void;
  /** How often ended codes are looked for, how often they may leave (a rewrite of parts), how often rows are counted. */
  everyMs?: { tend: number; remove: number; count: number };
}

/** Batches of at most this, as often as this; more seldom when ClickHouse takes its time, which leaves it some. */
const most = 20_000;
const lingerMs = { least: 200, most: 1_500 };

/**
 * Scans in ClickHouse, for every analytics read.
 *
 * It takes scans, and the end of codes, whose scans leave. ClickHouse has no part in a transaction of Postgres, so the
 * range of an insert is announced in Postgres before it and confirmed after it, and is the insert's token: a range that
 * was announced and not confirmed is inserted again, and ClickHouse drops what it has. A table that does not have the
 * rows that it was given (emptied, restored from an old backup, in memory only) is found out and made anew.
 */
export function createAnalytics(options: AnalyticsOptions) {
  const {
    sql,
    tables,
    readScans,
    rebuild,
    onTrouble,
    everyMs = { tend: 1_000, remove: 30_000, count: 5_000 },
  } = options;
  let table: WarehouseTable | undefined;
  let tookMs = 0;
  let tendedAt = Number.NEGATIVE_INFINITY;
  let removedAt = Number.NEGATIVE_INFINITY;
  let countedAt = Number.NEGATIVE_INFINITY;
  let removal: Promise<void> | undefined;

  async function send(into: WarehouseTable, to: number, scans: ScanText): Promise<void> {
    const started = performance.now();
    if (scans.count > 0) await insertText(tables, into, to, scans);
    tookMs = performance.now() - started;
  }

  /** Removes what ended codes have left behind. Inserts go on: none of them is of such a code. */
  async function removeEnded(from: WarehouseTable): Promise<void> {
    const { version, removed_to } = from;
    const to = from.removing_to ?? from.position;
    const codes = (await ledger.ended(sql, removed_to, to)).map(
      ({ id, account, mode }): CodeKey => [account, mode, id],
    );
    if (codes.length === 0 && from.removing_to === null) return;
    if (from.removing_to === null) await ledger.announceRemoval(sql, from, to, await tables.countOf(version, codes));
    if (from.removing_rows !== 0) await tables.remove(version, codes);
    await ledger.confirmRemoval(sql, from, to);
  }

  async function startRemoval(): Promise<boolean> {
    const current = await ledger.inUse(sql);
    if (current === undefined || (await ledger.ended(sql, current.removed_to, current.position)).length === 0)
      return false;
    removal = removeEnded(current)
      .catch(onTrouble)
      .finally(() => {
        removal = undefined;
      });
    return true;
  }

  /** Finishes what was announced and not confirmed. */
  async function finish(found: WarehouseTable): Promise<void> {
    const { position: after, inserting_to: to } = found;
    if (to !== null) {
      const scans = await readScans({ after, to, endedBy: 0 });
      await send(found, to, scans);
      await ledger.confirmInsert(sql, found, to, scans.count);
    }
    if (found.removing_to !== null) await removeEnded(found);
  }

  /** Whether a table holds what it was given, and what it was given just now. */
  async function isWhole({ version }: WarehouseTable, justNow = 0): Promise<boolean> {
    const current = await ledger.inUse(sql);
    if (current?.version !== version) throw new Superseded('another table of the warehouse has come into use');
    countedAt = performance.now();
    return (await tables.count(version)) === current.rows + justNow;
  }

  /** Why the table in use will not do, if so. */
  async function whatIsWrong(found: WarehouseTable | undefined): Promise<string | undefined> {
    if (found === undefined) return 'there is no table yet';
    if ((await tables.count(found.version)) === undefined) return 'the table is gone';
    if (found.definition !== tables.definition) return 'the table has an older shape';
    await finish(found);
    return (await isWhole(found)) ? undefined : 'the table has not the rows that it was given';
  }

  async function remade(why: string): Promise<WarehouseTable> {
    await rebuild(why);
    const made = await ledger.inUse(sql);
    if (made === undefined) throw new Error('the warehouse was made anew, but no table is in use');
    return made;
  }

  return {
    name: 'analytics',
    most,
    get lingerMs() {
      return Math.min(Math.max(lingerMs.least, 3 * tookMs), lingerMs.most);
    },

    async checkpoint(): Promise<number> {
      await removal?.catch(() => {});
      const found = await ledger.inUse(sql);
      const wrong = await whatIsWrong(found);
      if (wrong !== undefined && found !== undefined && found.definition === tables.definition)
        await ledger.giveUp(sql, found);
      table = wrong === undefined ? await ledger.inUse(sql) : await remade(wrong);
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
        // Before anybody is told that it is there. While codes leave, the number of rows says nothing.
        if (removal === undefined && !(await isWhole(into, text.count))) throw lost();
        await ledger.confirmInsert(sql, into, to, text.count);
      }
      table = { ...table, position: to };
    },

    /** Between batches: sees to codes that have ended, and that nothing was lost. */
    async tend(): Promise<void> {
      const now = performance.now();
      if (table === undefined || removal !== undefined || now - tendedAt < everyMs.tend) return;
      tendedAt = now;
      if (now - countedAt > everyMs.count && !(await isWhole(table))) throw lost();
      if (now - removedAt > everyMs.remove && (await startRemoval())) removedAt = now;
    },
  };
}

/** The range it covers is its token, so that it is known when it comes again. */
export const insertText = (
  tables: ScanTables,
  { version, position }: { version: number; position: number },
  to: number,
  { lines }: ScanText,
) => tables.insert(version, { fields: lineFields, lines }, `${version}:${position}-${to}`);

const lost = () => new Error('the warehouse does not hold what it was given');

/** A scan that waited on disk may come behind the end of its code: it is in the log, and counts nowhere. */
async function withoutEnded(sql: Sql<{ bigint: number }>, scans: ScanLine[]): Promise<ScanLine[]> {
  if (scans.length === 0) return scans;
  const ends = await ledger.ends(sql, [...new Set(scans.map(({ code }) => code))]);
  if (ends.size === 0) return scans;
  return scans.filter(({ code, position }) => position < (ends.get(code) ?? Number.POSITIVE_INFINITY));
}
