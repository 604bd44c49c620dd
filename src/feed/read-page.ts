import type { LogEntry } from '../../events/entry.ts';
import type { Owner } from '../../events/owner.ts';
import { accountTurn } from '../lib/account-turns.ts';
import { retryLater } from '../lib/errors.ts';
import { QueueFull, SemaphorePerKey } from '../lib/semaphore.ts';
import type { Queryable } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { blockSize } from '../log/account-index.ts';
import { nextOwnedPart, type OwnedPart } from '../log/owned-parts.ts';
import { headOfLog, readOwnedEvents } from '../log/read.ts';
import { readOwnedScans } from '../log/scan-lines.ts';
import type { Filter } from './filter.ts';

/** A filter can drop most entries of a part. */
const minEntriesPerPart = 500;
/**
 * A part whose entries are not known to be the owner's has as many positions as are wanted, and this many times as many after
 * each part with fewer entries. Postgres reads and sorts all scans of a part that it has no statistics of.
 */
const growth = 4;
/** The events of a page, as JSON. A change of rules can have 130 kB. */
export const maxPageBytes = 4 * 1024 * 1024;

export interface LogPage {
  /** Entries of the owner that pass the filter, in log order. */
  entries: LogEntry[];
  /** Everything up to this position is read. */
  to: number;
  /** Whether that is the end of the log. */
  isAtEnd: boolean;
}

/**
 * One page of an account is read at a time: its streams may all read from the log, and would take all connections to Postgres, and
 * the time of its processes.
 */
const maxWaitingPages = 128;
const pages = new SemaphorePerKey(1, maxWaitingPages);

interface Wanted {
  after: number;
  filter: Filter;
  limit: number;
}

/** Reads up to `limit` entries of one owner after position `after`, when it is the turn of the account's page. */
export const readPage = (sql: Queryable, owner: Owner, wanted: Wanted, timers = systemTimers): Promise<LogPage> =>
  pages
    .run(owner.account, () => readInTurn(sql, owner, wanted, timers))
    .catch((error) => {
      if (!(error instanceof QueueFull)) throw error;
      throw retryLater('The account reads too many pages of events at once: try again in a few seconds.');
    });

/** Three quarters of the time are left to other accounts while several streams of an account wait for their turn. */
const pausePerRead = 3;

async function readInTurn(sql: Queryable, owner: Owner, wanted: Wanted, timers: Timers): Promise<LogPage> {
  const startedAt = timers.now();
  const page = await accountTurn(owner.account, () => readNow(sql, owner, wanted));
  if (pages.callersOf(owner.account) > 1) await timers.sleep(pausePerRead * (timers.now() - startedAt));
  return page;
}

async function readNow(sql: Queryable, owner: Owner, { after, filter, limit }: Wanted): Promise<LogPage> {
  const deadline = performance.now() + timeouts.feedPageMs;
  const head = await headOfLog(sql, after);
  const maxEntries = Math.max(limit, minEntriesPerPart);
  const options = { wantsScans: filter.wantsScans, wantsChanges: filter.changeTypes.length > 0, maxEntries };
  const entries: LogEntry[] = [];
  let maxPositions = maxEntries;
  for (let to = after; ; ) {
    if (to >= head) return { entries, to: head, isAtEnd: true };
    const part = await nextOwnedPart(sql, owner, { after: to, to: head }, { ...options, maxPositions });
    const found = await readPart(sql, owner, filter, part, limit - entries.length);
    entries.push(...found.entries);
    to = found.to;
    if (entries.length >= limit || found.isCut || performance.now() > deadline)
      return { entries, to, isAtEnd: to === head };
    maxPositions = Math.min(growth * maxPositions, blockSize);
  }
}

/** Entries of one part, up to about `limit` or `maxPageBytes`, and the position up to which they are complete. */
async function readPart(
  sql: Queryable,
  owner: Owner,
  { qrId: code, wantsScans, changeTypes }: Filter,
  { after, to, owned }: OwnedPart,
  limit: number,
): Promise<{ entries: LogEntry[]; to: number; isCut: boolean }> {
  const range = { ...owner, code, after, to };
  const [{ events: changes, isCut }, scans] = await Promise.all([
    changeTypes.length === 0
      ? { events: [], isCut: false }
      : readOwnedEvents(sql, { ...range, positions: owned?.changes }, changeTypes, { limit, maxBytes: maxPageBytes }),
    wantsScans ? readOwnedScans(sql, { ...range, positions: owned?.scans }, limit) : [],
  ]);
  // Of what follows the last change that was read, only scans are known.
  const known = isCut ? (changes.at(-1)?.position ?? to) : to;
  const merged = changes.length === 0 ? scans : mergedUpTo(known, [...changes, ...scans]);
  const page = merged.slice(0, limit);
  const end = page.length === limit ? (page.at(-1)?.position ?? to) : known;
  const deleted = await deletedCodes(sql, new Set(scans.map((scan) => scan.code)));
  return { entries: page.filter((entry) => entry.type !== 'code_scanned' || !deleted.has(entry.code)), to: end, isCut };
}

const mergedUpTo = (to: number, entries: LogEntry[]): LogEntry[] =>
  entries.filter(({ position }) => position <= to).sort((a, b) => a.position - b.position);

/** Scans of deleted codes have left analytics, and are not shown here either. */
async function deletedCodes(sql: Queryable, codes: Set<string>): Promise<Set<string>> {
  if (codes.size === 0) return new Set();
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM codes WHERE id = ANY(${[...codes]}) AND status = 'deleted'`;
  return new Set(rows.map(({ id }) => id));
}
