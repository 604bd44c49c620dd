import { lineFields, lineVersion, scanLines, unescaped } from '../../../events/scan-line.ts';
import { appendLockHolds } from '../../lib/append-lock-holds.ts';
import type { Sql } from '../../lib/sql.ts';
import { locks } from '../../log/locks.ts';
import type { EventLine, FileEntry } from './check-lines.ts';

const maxChunkCharacters = 256 * 1024;

/**
 * How many entries are appended together, so that the append lock is held for about 5 ms. A machine that is busy can make it four
 * times as long.
 */
export class ChunkSize {
  #entries = 200;

  get entries(): number {
    return this.#entries;
  }

  /** `heldMs`: for how long the lock was held for the last chunk. */
  adapt(heldMs: number): void {
    if (heldMs > 6) this.#entries = Math.max(50, Math.floor(this.#entries / 2));
    else if (heldMs < 4) this.#entries = Math.min(1_000, this.#entries + 25);
  }
}

/** Consecutive entries of a file, as the statement below takes them. */
export interface EntryChunk {
  count: number;
  /** How many entries of the file are before them. */
  before: number;
  /** Parameters of the statement, from $4 on. */
  values: string[];
}

/** Cuts entries into chunks; the first `before` of them are left out, because they are appended already. */
export async function* chunksOf(
  parts: AsyncIterable<FileEntry[]>,
  before: number,
  { size, scanLines: version }: { size: ChunkSize; scanLines: number },
): AsyncGenerator<EntryChunk> {
  let chunk: FileEntry[] = [];
  let characters = 0;
  let read = 0;
  const prepared = () => ({ count: chunk.length, before: read - chunk.length, values: valuesOf(chunk, version) });
  for await (const entries of parts)
    for (const entry of entries) {
      if (read++ < before) continue;
      chunk.push(entry);
      characters += 'event' in entry ? JSON.stringify(entry.event.data).length : entry.scan.length;
      if (chunk.length < size.entries && characters < maxChunkCharacters) continue;
      yield prepared();
      chunk = [];
      characters = 0;
    }
  if (chunk.length > 0) yield prepared();
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
/** By the check of lines, they have neither quotes nor commas, and are not empty: an array has them as they are. */
const plainFields = ['code', 'is_unique', 'account', 'mode', 'id', 'occurred_at', 'is_bot', 'visitor', 'revision'];
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
  WITH given_sources AS MATERIALIZED (SELECT $4::text::bigint[] AS sources),
  turn AS MATERIALIZED (
    UPDATE account_imports SET entries = entries + cardinality(sources) FROM given_sources
    WHERE account = $1 AND number = $2 AND entries = $3 AND done_at IS NULL RETURNING sources
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
    SELECT pg_advisory_xact_lock(${locks.append}), clock_timestamp() AS locked_at, sources
    FROM (SELECT count(*) FROM given) AS scans, (SELECT count(*) FROM changes) AS events, turn
  ),
  placed AS MATERIALIZED (
    SELECT place, nextval('log_position') AS position
    FROM locked, generate_series(0, cardinality(sources) - 1) AS place
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
    SELECT $1, $2, (SELECT min(position) FROM placed), sources FROM locked
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
  { count, before, values }: EntryChunk,
): Promise<number> {
  const [done] = await sql.unsafe<Appended[]>(statement, [account, number, before, ...values], { prepare: true });
  if (done?.entries !== count || done.span !== count)
    throw new Error(`Postgres did not confirm that ${count} entries of ${account} are appended`);
  appendLockHolds.observe(done.held ?? 0);
  return (done.held ?? 0) * 1_000;
}

function valuesOf(entries: FileEntry[], scanLinesVersion: number): string[] {
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
  return [sources, JSON.stringify(events), arrayOf(places), ...columnsOf(lines, scanLinesVersion)];
}

const arrayOf = (values: unknown[]) => `{${values.join(',')}}`;
const quoted = (text: string) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;

/** The columns of scan lines, each as a Postgres array. */
function columnsOf(lines: string[], version: number): string[] {
  const current = version === lineVersion ? lines : scanLines(version, lines.join('\n')).map(({ line }) => line);
  const rows = current.map((line) => line.split('\t'));
  return columns.map((name) => {
    const index = lineFields.indexOf(name);
    const fieldOf = (row: string[]) => row[index] ?? '';
    if (plainFields.includes(name)) return arrayOf(rows.map(fieldOf));
    const text = escapedFields.includes(name)
      ? (row: string[]) => quoted(unescaped(fieldOf(row)))
      : (row: string[]) => quoted(fieldOf(row));
    return arrayOf(rows.map(text));
  });
}
