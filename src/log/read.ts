import { type StoredEvent, upcast } from '../../events/catalogue.ts';
import type { LogEntry, LogRange } from '../../events/entry.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
import { maxRulesLength } from '../../events/targeting/read-rules.ts';
import type { Queryable } from '../lib/sql.ts';
import { isAt, type OwnedRange, readScans, readScansAt } from './scan-lines.ts';

export interface Row {
  position: number;
  id: string;
  stream: string;
  version: number;
  type: string;
  schema: number;
  data: unknown;
  actor: string;
  occurred_at: Date;
}

export const recorded = ({ type, schema, data, ...rest }: Row): Recorded<StoredEvent> => ({
  ...upcast(type, schema, data),
  ...rest,
});

/** In SQL what `isDoneBy` is: whether an event was caused by the actor, or by a client of a key. */
export const doneBy = (sql: Queryable, actor: Actor) => sql`(actor = ${actor} OR starts_with(actor, ${`${actor}/`}))`;

/**
 * The data of an event can have 260 kB as JSON, and an account can make hundreds of such changes a minute: a reader that takes
 * events by number alone would take hundreds of MB.
 */
const maxBytesPerRead = 4 * 1024 * 1024;

/** What a read may return at most. It returns one event at least. */
interface ReadLimits {
  limit: number;
  maxBytes?: number | undefined;
}

/** Events up to the limits of a read, and whether there may be more of them. */
interface LimitedEvents {
  events: Recorded<StoredEvent>[];
  isCut: boolean;
}

type Fragment = ReturnType<typeof doneBy>;

/** Rules before and after a change, with characters of up to 4 bytes. */
const maxDataBytes = 2 * 4 * maxRulesLength;

/**
 * In SQL the size that the data of `events e` has at most as JSON, nearly. What Postgres has compressed is not unpacked for it: with
 * pglz it is at most 100 times as large, with lz4 256 times.
 */
const maxSizeOfData = (sql: Queryable) => sql`
  CASE pg_column_compression(e.data)
    WHEN 'pglz' THEN least(100 * pg_column_size(e.data), ${maxDataBytes}::integer)
    WHEN 'lz4' THEN least(256 * pg_column_size(e.data), ${maxDataBytes}::integer)
    ELSE pg_column_size(e.data)
  END`;

const sizeOfData = (sql: Queryable) => sql`octet_length(e.data::text)`;

/**
 * The first of the events that `found` describes, in SQL from `FROM` on, in an order in which no two are equal. Data that is not
 * returned is not read either.
 */
async function readLimited(
  sql: Queryable,
  found: Fragment,
  order: Fragment,
  { limit, maxBytes = maxBytesPerRead }: ReadLimits,
  size = maxSizeOfData(sql),
): Promise<LimitedEvents> {
  const rows = await sql<(Row & { found: number })[]>`
    SELECT position, id, stream, version, type, schema, data, actor, occurred_at, found FROM (
      SELECT *, sum(bytes) OVER (ORDER BY ${order}) - bytes AS before, count(*) OVER () AS found FROM (
        SELECT e.*, ${size} AS bytes ${found} ORDER BY ${order} LIMIT ${limit}
      ) AS first
    ) AS summed
    WHERE before < ${maxBytes} ORDER BY ${order}`;
  const all = rows[0]?.found ?? 0;
  return { events: rows.map(({ found: _, ...row }) => recorded(row)), isCut: rows.length < all || all === limit };
}

const eventsPerRead = 1_000;

/** The first events of one code or account after position `after`, oldest first; none only after the last one. */
export const readStream = async (sql: Queryable, stream: string, after = 0): Promise<Recorded<StoredEvent>[]> =>
  (await readStreamPart(sql, stream, { after })).events;

/** The same, of some types, up to some bytes. */
export const readStreamPart = (
  sql: Queryable,
  stream: string,
  { after, types, maxBytes }: { after: number; types?: readonly string[]; maxBytes?: number },
): Promise<LimitedEvents> => {
  const ofTypes = types === undefined ? sql`` : sql`AND e.type = ANY(${[...types]})`;
  return readLimited(
    sql,
    sql`FROM events e WHERE e.stream = ${stream} AND e.position > ${after} ${ofTypes}`,
    sql`version`,
    {
      limit: eventsPerRead,
      maxBytes,
    },
  );
};

/** The first events of several codes, of these types, the oldest of a code first: all of a code follow each other. */
export const readStreams = (
  sql: Queryable,
  streams: readonly string[],
  { types, maxBytes }: { types: readonly string[]; maxBytes: number },
): Promise<LimitedEvents> =>
  readLimited(
    sql,
    sql`FROM events e WHERE e.stream = ANY(${[...streams]}) AND e.type = ANY(${[...types]})`,
    sql`stream, version`,
    { limit: eventsPerRead, maxBytes },
  );

/** The newest events of one code from version `to` down to version `after` + 1, newest first; none only if there are none. */
export const readVersions = (
  sql: Queryable,
  stream: string,
  { after, to }: { after: number; to: number },
  maxBytes: number,
): Promise<LimitedEvents> =>
  readLimited(
    sql,
    sql`FROM events e WHERE e.stream = ${stream} AND e.version > ${after} AND e.version <= ${to}`,
    sql`version DESC`,
    { limit: to - after, maxBytes },
  );

/** Of each type the last event of a code up to a version, oldest first. */
export async function readLastOfTypes(
  sql: Queryable,
  stream: string,
  version: number,
): Promise<Recorded<StoredEvent>[]> {
  const rows = await sql<Row[]>`
    SELECT e.* FROM (
      SELECT DISTINCT ON (type) version FROM events WHERE stream = ${stream} AND version <= ${version}
      ORDER BY type, version DESC
    ) AS last JOIN events e ON e.stream = ${stream} AND e.version = last.version
    ORDER BY e.version`;
  return rows.map(recorded);
}

/** Events of several codes by their versions. */
export async function readVersionsOf(
  sql: Queryable,
  wanted: { stream: string; version: number }[],
): Promise<Recorded<StoredEvent>[]> {
  if (wanted.length === 0) return [];
  const rows = await sql<Row[]>`
    SELECT e.* FROM jsonb_to_recordset(${sql.json(wanted)}) AS w (stream text, version integer)
    JOIN events e ON e.stream = w.stream AND e.version = w.version`;
  return rows.map(recorded);
}

/** The first events of codes and accounts after position `after`, up to `limit`, in log order; none only at the end. */
export const readEvents = async (sql: Queryable, after: number, limit: number): Promise<Recorded<StoredEvent>[]> =>
  (await readLimited(sql, sql`FROM events e WHERE e.position > ${after}`, sql`position`, { limit })).events;

/**
 * The mode that an event of an account's stream belongs to, in SQL: the mode of the key or webhook that it is about, else live,
 * since the account as a whole is managed with live keys.
 */
export const modeOfAccountEvent = `coalesce(
  CASE WHEN e.type = 'key_revoked' THEN (SELECT k.mode FROM api_keys k WHERE k.id = e.data->>'key') END,
  e.data->>'mode',
  'live'
)`;

/** Changes of one owner's codes, and of the account as far as they belong to the mode, of these types, in log order. */
export async function readOwnedEvents(
  sql: Queryable,
  { account, mode, code, after, to, positions }: OwnedRange,
  types: readonly string[],
  limits: ReadLimits,
): Promise<LimitedEvents> {
  if (positions?.length === 0) return { events: [], isCut: false };
  const owned = sql`
    FROM events e LEFT JOIN codes c ON c.id = e.stream
    WHERE e.position > ${after} AND e.position <= ${to} AND e.type = ANY(${[...types]})
      ${code === undefined ? sql`` : sql`AND e.stream = ${code}`}
      ${positions === undefined ? sql`` : sql`AND e.position ${isAt(sql, positions)}`}
      AND (c.account = ${account} AND c.mode = ${mode}
        OR e.stream = ${account} AND ${sql.unsafe(modeOfAccountEvent)} = ${mode})`;
  // The size is part of the answer: a page of the feed that ends early.
  return readLimited(sql, owned, sql`position`, limits, sizeOfData(sql));
}

/** The last position of the log; everything up to it is visible. `after`, a known lower bound, makes the query cheaper. */
export async function headOfLog(sql: Queryable, after = 0): Promise<number> {
  const [row] = await sql<[{ position: number }]>`
    SELECT greatest(
      (SELECT max(position) FROM events WHERE position > ${after}),
      (SELECT max(position) FROM scans WHERE position > ${after}),
      (SELECT convert_from(value, 'UTF8')::bigint FROM secrets WHERE name = 'log_floor'),
      ${after}::bigint
    ) AS position`;
  return row.position;
}

/**
 * Positions that one query covers, for each entry wanted. Nearly all positions are in use. Without this bound, Postgres sorts
 * the rest of a partition that it has no statistics of: twice the time for a backlog of 300,000 scans.
 */
const positionsPerEntry = 4;

/** A part of the log that a read returned, and whether there may be more entries after it already. */
export interface ReadRange extends LogRange {
  isCut: boolean;
}

/** Scans and other events after position `after`, in log order, up to about `limit` of them; none only at the end. */
export async function readRange(sql: Queryable, after: number, limit: number): Promise<ReadRange> {
  // The head is read first: the second of the two queries could see entries appended after the first one ran.
  const head = await headOfLog(sql, after);
  for (let from = after; from < head; ) {
    const to = Math.min(head, from + limit * positionsPerEntry);
    const part = await readEntries(sql, { after: from, to }, limit);
    if (part.entries.length > 0) return { after, ...part };
    from = to;
  }
  return { after, to: head, entries: [], isCut: false };
}

/** The first scans and other events of a range, in log order, and the position up to which these are all. */
async function readEntries(
  sql: Queryable,
  { after, to }: { after: number; to: number },
  limit: number,
): Promise<Omit<ReadRange, 'after'>> {
  const [{ events, isCut }, scans] = await Promise.all([
    readLimited(sql, sql`FROM events e WHERE e.position > ${after} AND e.position <= ${to}`, sql`position`, { limit }),
    readScans(sql, after, to, limit),
  ]);
  const known = isCut ? (events.at(-1)?.position ?? to) : to;
  const merged = events.length === 0 ? scans : upTo(known, [...events, ...scans]);
  const entries = merged.slice(0, limit);
  const isFull = entries.length === limit;
  return { entries, to: isFull ? (entries.at(-1)?.position ?? known) : known, isCut: isCut || isFull };
}

const upTo = (to: number, entries: LogEntry[]): LogEntry[] =>
  entries.filter(({ position }) => position <= to).sort((a, b) => a.position - b.position);

/** The first of these positions at which the entries up to it are too large to be read at once; undefined if none is. */
export async function firstTooLarge(sql: Queryable, positions: number[]): Promise<number | undefined> {
  const [row] = await sql<[{ position: number | null }]>`
    SELECT min(position) AS position FROM (
      SELECT position, sum(bytes) OVER (ORDER BY position) - bytes AS before FROM (
        SELECT position, ${maxSizeOfData(sql)} AS bytes FROM events e WHERE position ${isAt(sql, positions)}
      ) AS sized
    ) AS summed
    WHERE before >= ${maxBytesPerRead}`;
  return row.position ?? undefined;
}

/** The entries at these positions, in log order. */
export async function readEntriesAt(sql: Queryable, positions: number[]): Promise<LogEntry[]> {
  const [events, scans] = await Promise.all([
    sql<Row[]>`SELECT * FROM events WHERE position ${isAt(sql, positions)}`,
    readScansAt(sql, positions),
  ]);
  return [...events.map(recorded), ...scans].sort((a, b) => a.position - b.position);
}
