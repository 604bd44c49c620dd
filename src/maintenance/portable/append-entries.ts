import { lineFields, scanLines, unescaped } from '../../../events/scan-line.ts';
import { appendLockHolds } from '../../lib/append-lock-holds.ts';
import type { Sql } from '../../lib/sql.ts';
import { locks } from '../../log/locks.ts';
import type { EventLine, FileEntry } from './check-lines.ts';

const maxChunkCharacters = 256 * 1024;

/**
 * How many entries are appended together, so that the append lock is held for about 10 ms: 500 of them took 19 ms on two cores with
 * 14 processes, and a slow disk makes it longer, too.
 */
export class ChunkSize {
  #entries = 250;

  get entries(): number {
    return this.#entries;
  }

  /** `heldMs`: for how long the lock was held for the last chunk. */
  adapt(heldMs: number): void {
    if (heldMs > 12) this.#entries = Math.max(50, Math.floor(this.#entries / 2));
    else if (heldMs < 8) this.#entries = Math.min(1_000, this.#entries + 50);
  }
}

/** Consecutive entries of a file. */
export interface EntryChunk {
  entries: FileEntry[];
  /** How many entries of the file are before them. */
  before: number;
}

/** Cuts entries into chunks; the first `before` of them are left out, because they are appended already. */
export async function* chunksOf(
  parts: AsyncIterable<FileEntry[]>,
  before: number,
  size: ChunkSize,
): AsyncGenerator<EntryChunk> {
  let chunk: FileEntry[] = [];
  let characters = 0;
  let read = 0;
  for await (const entries of parts)
    for (const entry of entries) {
      if (read++ < before) continue;
      chunk.push(entry);
      characters += 'event' in entry ? JSON.stringify(entry.event.data).length : entry.scan.length;
      if (chunk.length < size.entries && characters < maxChunkCharacters) continue;
      yield { entries: chunk, before: read - chunk.length };
      chunk = [];
      characters = 0;
    }
  if (chunk.length > 0) yield { entries: chunk, before: read - chunk.length };
}

/** The columns of a scan that are inserted, with their types. `position` is the place in the chunk. */
const columnTypes: Partial<Record<(typeof lineFields)[number], string>> = {
  is_unique: 'boolean',
  occurred_at: 'timestamp',
  is_bot: 'boolean',
  visitor: 'uuid',
  revision: 'integer',
};
const columns = lineFields.filter((name) => name !== 'position');
const escapedFields = ['region', 'city'];
const optionalFields = ['rule', 'variant'];

const insertedValue = (name: (typeof columns)[number]) => {
  if (name === 'occurred_at') return "g.occurred_at AT TIME ZONE 'UTC'";
  return optionalFields.includes(name) ? `nullif(g.${name}, '')` : `g.${name}`;
};

/**
 * One statement, and so one transaction: it changes nothing unless the import has exactly the entries before these. Everything is
 * parsed before the lock is taken; positions are drawn in the order of the file, and without a gap, because every append
 * draws them under the lock.
 *
 * $1 account, $2 number of the import, $3 entries before these, $4 positions in the file, $5 events, $6 places of the scans,
 * $7… columns of the scans.
 */
const statement = `
  WITH turn AS MATERIALIZED (
    UPDATE account_imports SET entries = entries + cardinality($4::text::bigint[])
    WHERE account = $1 AND number = $2 AND entries = $3 AND done_at IS NULL RETURNING 1 AS one
  ),
  given AS MATERIALIZED (
    SELECT g.* FROM turn, unnest($6::text::int[], ${columns
      .map((name, i) => `$${i + 7}::text::${columnTypes[name] ?? 'text'}[]`)
      .join(', ')}) AS g (place, ${columns.join(', ')})
  ),
  changes AS MATERIALIZED (
    SELECT e.* FROM turn, jsonb_to_recordset($5::text::jsonb)
      AS e (place int, id text, stream text, version int, type text, schema smallint, data jsonb, actor text,
        occurred_at timestamptz)
  ),
  locked AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(${locks.append}), clock_timestamp() AS locked_at
    FROM (SELECT count(*) FROM given) AS scans, (SELECT count(*) FROM changes) AS events, turn
  ),
  placed AS MATERIALIZED (
    SELECT place, nextval('log_position') AS position
    FROM locked, generate_series(0, cardinality($4::text::bigint[]) - 1) AS place
  ),
  stored_scans AS (
    INSERT INTO scans (position, ${columns.join(', ')})
    SELECT p.position, ${columns.map(insertedValue).join(', ')} FROM placed p JOIN given g ON g.place = p.place
    RETURNING 1
  ),
  stored_events AS (
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    SELECT p.position, e.id, e.stream, e.version, e.type, e.schema, e.data, e.actor, e.occurred_at
    FROM placed p JOIN changes e ON e.place = p.place
    RETURNING 1
  ),
  noted AS (
    INSERT INTO account_import_positions (account, number, position, sources)
    SELECT $1, $2, min(position), $4::text::bigint[] FROM placed HAVING count(*) > 0
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM stored_scans) + (SELECT count(*) FROM stored_events) AS entries,
    (SELECT max(position) - min(position) + 1 FROM placed) AS span,
    (SELECT extract(epoch FROM clock_timestamp() - locked_at)::float8 FROM locked) AS held`;

interface Appended {
  entries: number;
  span: number | null;
  held: number | null;
}

interface ImportKey {
  account: string;
  number: number;
}

/** Appends a chunk to the log; resolves to the time for which the append lock was held, in milliseconds. */
export async function appendChunk(
  sql: Sql,
  { account, number }: ImportKey,
  { entries, before }: EntryChunk,
  scanLinesVersion: number,
): Promise<number> {
  const events: (EventLine & { place: number })[] = [];
  const places: number[] = [];
  const lines: string[] = [];
  for (const [place, entry] of entries.entries()) {
    if ('event' in entry) events.push(Object.assign(entry.event, { place }));
    else {
      places.push(place);
      lines.push(entry.scan);
    }
  }
  const sources = arrayOf(entries.map(({ position }) => position));
  const [done] = await sql.unsafe<Appended[]>(
    statement,
    [account, number, before, sources, JSON.stringify(events), arrayOf(places), ...columnsOf(lines, scanLinesVersion)],
    { prepare: true },
  );
  if (done?.entries !== entries.length || done.span !== entries.length)
    throw new Error(`Postgres did not confirm that ${entries.length} entries of ${account} are appended`);
  appendLockHolds.observe(done.held ?? 0);
  return (done.held ?? 0) * 1_000;
}

const arrayOf = (values: unknown[]) => `{${values.join(',')}}`;
const quoted = (text: string) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;

/** The columns of scan lines, each as a Postgres array. */
function columnsOf(lines: string[], version: number): string[] {
  const rows = lines.length === 0 ? [] : scanLines(version, lines.join('\n')).map(({ line }) => line.split('\t'));
  return columns.map((name) => {
    const index = lineFields.indexOf(name);
    const fieldOf = (row: string[]) => row[index] ?? '';
    const text = escapedFields.includes(name)
      ? (row: string[]) => quoted(unescaped(fieldOf(row)))
      : (row: string[]) => quoted(fieldOf(row));
    return arrayOf(rows.map(text));
  });
}
