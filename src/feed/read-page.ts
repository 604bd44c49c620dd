import type { LogEntry } from '../../events/entry.ts';
import type { Owner } from '../../events/owner.ts';
import { blockOf, blockSize, logBlocks } from '../../projections/log-blocks.ts';
import { timeouts } from '../lib/timeouts.ts';
import type { Queryable } from '../log/connect.ts';
import { headOfLog, readOwnedEvents } from '../log/read.ts';
import { readOwnedScans } from '../log/scan-lines.ts';
import type { Filter } from './filter.ts';

const blocksPerQuery = 100;

export interface LogPage {
  /** Entries of the owner that pass the filter, in log order. */
  entries: LogEntry[];
  /** Everything up to this position is read. */
  to: number;
  /** Whether that is the end of the log. */
  isAtEnd: boolean;
}

/** Reads up to `limit` entries of one owner after position `after`. */
export async function readPage(
  sql: Queryable,
  owner: Owner,
  { after, filter, limit }: { after: number; filter: Filter; limit: number },
): Promise<LogPage> {
  const deadline = performance.now() + timeouts.feedPageMs;
  const head = await headOfLog(sql, after);
  const entries: LogEntry[] = [];
  for await (const range of stretches(sql, owner, filter, { after, to: head })) {
    const found = await readStretch(sql, owner, filter, range, limit - entries.length);
    entries.push(...found.entries);
    if (entries.length >= limit || found.to < range.to) return { entries, to: found.to, isAtEnd: found.to === head };
    if (performance.now() > deadline) return { entries, to: range.to, isAtEnd: range.to === head };
  }
  return { entries, to: head, isAtEnd: true };
}

interface Range {
  after: number;
  to: number;
}

/** The parts of a range in which the owner can have entries: by blocks as far as those are known, then all of it. */
async function* stretches(
  sql: Queryable,
  { account, mode }: Owner,
  { wantsScans, changeTypes }: Filter,
  { after, to }: Range,
): AsyncGenerator<Range> {
  const known = Math.min(await logBlocks.checkpoint(sql), to);
  for (let next = blockOf(after + 1); after < known; ) {
    const rows = await sql<{ block: number }[]>`
      SELECT block FROM log_blocks
      WHERE account = ${account} AND mode = ${mode} AND block >= ${next} AND block <= ${blockOf(known)}
        AND (has_scans AND ${wantsScans} OR has_changes AND ${changeTypes.length > 0})
      ORDER BY block LIMIT ${blocksPerQuery}`;
    for (const { block } of rows)
      yield { after: Math.max(after, block * blockSize), to: Math.min((block + 1) * blockSize, known) };
    if (rows.length < blocksPerQuery) break;
    next = (rows.at(-1)?.block ?? next) + 1;
  }
  for (let from = Math.max(after, known); from < to; from += blockSize)
    yield { after: from, to: Math.min(from + blockSize, to) };
}

/** Entries of one stretch, up to about `limit`, and the position up to which they are complete. */
async function readStretch(
  sql: Queryable,
  owner: Owner,
  { qrId: code, wantsScans, changeTypes }: Filter,
  { after, to }: Range,
  limit: number,
): Promise<{ entries: LogEntry[]; to: number }> {
  const range = { ...owner, code, after, to };
  const [changes, scans] = await Promise.all([
    changeTypes.length === 0 ? [] : readOwnedEvents(sql, range, changeTypes, limit),
    wantsScans ? readOwnedScans(sql, range, limit) : [],
  ]);
  const merged: LogEntry[] = [...changes, ...scans].sort((a, b) => a.position - b.position);
  const page = merged.slice(0, limit);
  const end = page.length === limit ? (page.at(-1)?.position ?? to) : to;
  const deleted = await deletedCodes(sql, new Set(scans.map((scan) => scan.code)));
  return { entries: page.filter((entry) => entry.type !== 'code_scanned' || !deleted.has(entry.code)), to: end };
}

/** Scans of deleted codes have left analytics, and are not shown here either. */
async function deletedCodes(sql: Queryable, codes: Set<string>): Promise<Set<string>> {
  if (codes.size === 0) return new Set();
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM codes WHERE id = ANY(${[...codes]}) AND status = 'deleted'`;
  return new Set(rows.map(({ id }) => id));
}
