import { type StoredEvent, upcast } from '../../events/catalogue.ts';
import type { LogEntry, LogRange } from '../../events/entry.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
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

/** Events of one code or account after position `after`, oldest first. */
export async function readStream(sql: Queryable, stream: string, after = 0): Promise<Recorded<StoredEvent>[]> {
  const rows = await sql<Row[]>`
    SELECT * FROM events WHERE stream = ${stream} AND position > ${after} ORDER BY version`;
  return rows.map(recorded);
}

/** Events of one code or account from version `after` + 1 up to version `to`, oldest first. */
export async function readVersions(
  sql: Queryable,
  stream: string,
  { after, to }: { after: number; to: number },
): Promise<Recorded<StoredEvent>[]> {
  const rows = await sql<Row[]>`
    SELECT * FROM events WHERE stream = ${stream} AND version > ${after} AND version <= ${to} ORDER BY version`;
  return rows.map(recorded);
}

/** Events of several codes or accounts, each from version `since` on; up to `limit` in all, oldest of each stream first. */
export async function readStreams(
  sql: Queryable,
  streams: { stream: string; since: number }[],
  limit: number,
): Promise<Recorded<StoredEvent>[]> {
  const rows = await sql<Row[]>`
    SELECT e.* FROM jsonb_to_recordset(${sql.json(streams)}) AS s (stream text, since integer)
    JOIN events e ON e.stream = s.stream AND e.version >= s.since
    ORDER BY e.stream, e.version LIMIT ${limit}`;
  return rows.map(recorded);
}

/** Up to `limit` events of codes and accounts after position `after`, in log order. */
export async function readEvents(sql: Queryable, after: number, limit: number): Promise<Recorded<StoredEvent>[]> {
  const rows = await sql<Row[]>`SELECT * FROM events WHERE position > ${after} ORDER BY position LIMIT ${limit}`;
  return rows.map(recorded);
}

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
  { limit, maxBytes }: { limit: number; maxBytes: number },
): Promise<{ events: Recorded<StoredEvent>[]; isCut: boolean }> {
  if (positions?.length === 0) return { events: [], isCut: false };
  const owned = sql`
    SELECT e.*, octet_length(e.data::text) AS bytes FROM events e LEFT JOIN codes c ON c.id = e.stream
    WHERE e.position > ${after} AND e.position <= ${to} AND e.type = ANY(${[...types]})
      ${code === undefined ? sql`` : sql`AND e.stream = ${code}`}
      ${positions === undefined ? sql`` : sql`AND e.position ${isAt(sql, positions)}`}
      AND (c.account = ${account} AND c.mode = ${mode}
        OR e.stream = ${account} AND ${sql.unsafe(modeOfAccountEvent)} = ${mode})
    ORDER BY e.position LIMIT ${limit}`;
  const rows = await sql<(Row & { found: number })[]>`
    SELECT position, id, stream, version, type, schema, data, actor, occurred_at, found FROM (
      SELECT *, sum(bytes) OVER (ORDER BY position) - bytes AS before, count(*) OVER () AS found FROM (${owned}) AS owned
    ) AS summed
    WHERE before < ${maxBytes} ORDER BY position`;
  return { events: rows.map(({ found: _, ...row }) => recorded(row)), isCut: rows.length < (rows[0]?.found ?? 0) };
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

/** Scans and other events after position `after`, in log order, up to about `limit` of them; none only at the end. */
export async function readRange(sql: Queryable, after: number, limit: number): Promise<LogRange> {
  // The head is read first: the second of the two queries could see entries appended after the first one ran.
  const head = await headOfLog(sql, after);
  for (let from = after; from < head; ) {
    const to = Math.min(head, from + limit * positionsPerEntry);
    const entries = await readEntries(sql, { after: from, to }, limit);
    if (entries.length === limit) return { after, to: entries.at(-1)?.position ?? to, entries };
    if (entries.length > 0) return { after, to, entries };
    from = to;
  }
  return { after, to: head, entries: [] };
}

/** The first `limit` scans and other events of a range, in log order. */
async function readEntries(
  sql: Queryable,
  { after, to }: { after: number; to: number },
  limit: number,
): Promise<LogEntry[]> {
  const [events, scans] = await Promise.all([
    sql<Row[]>`SELECT * FROM events WHERE position > ${after} AND position <= ${to} ORDER BY position LIMIT ${limit}`,
    readScans(sql, after, to, limit),
  ]);
  if (events.length === 0) return scans;
  const merged: LogEntry[] = [...events.map(recorded), ...scans].sort((a, b) => a.position - b.position);
  return merged.slice(0, limit);
}

/** The entries at these positions, in log order. */
export async function readEntriesAt(sql: Queryable, positions: number[]): Promise<LogEntry[]> {
  const [events, scans] = await Promise.all([
    sql<Row[]>`SELECT * FROM events WHERE position ${isAt(sql, positions)}`,
    readScansAt(sql, positions),
  ]);
  return [...events.map(recorded), ...scans].sort((a, b) => a.position - b.position);
}
