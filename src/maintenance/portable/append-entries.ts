import { lineFields, lineVersion, ScanLine, scanLines } from '../../../events/scan-line.ts';
import { appendLockHolds } from '../../lib/append-lock-holds.ts';
import type { Sql } from '../../lib/sql.ts';
import { locks } from '../../log/locks.ts';
import type { FileEntry } from './check-lines.ts';

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

const columns = lineFields.filter((name) => name !== 'position');

const fieldOf = (name: (typeof lineFields)[number]) => `f.a[${lineFields.indexOf(name) + 1}]`;

/** How a column is made of the fields of a line, where it is not the text as it is. */
const expressions: Partial<Record<(typeof columns)[number], string>> = {
  is_unique: `${fieldOf('is_unique')}::boolean`,
  occurred_at: `${fieldOf('occurred_at')}::timestamp AT TIME ZONE 'UTC'`,
  region: `coalesce(o.region, ${fieldOf('region')})`,
  city: `coalesce(o.city, ${fieldOf('city')})`,
  is_bot: `${fieldOf('is_bot')}::boolean`,
  visitor: `${fieldOf('visitor')}::uuid`,
  revision: `${fieldOf('revision')}::integer`,
  rule: `nullif(${fieldOf('rule')}, '')`,
  variant: `nullif(${fieldOf('variant')}, '')`,
};

/**
 * One statement, and so one transaction: it changes nothing unless the import has exactly the entries before these. Everything is
 * parsed before the lock is taken; positions are drawn in the order of the file, and without a gap, because every append
 * draws them under the lock. Postgres splits the lines, which leaves this process nothing to convert.
 *
 * $1 account, $2 number of the import, $3 entries before these, $4 positions in the file, $5 events, $6 lines of scans, $7 regions
 * and cities that have escapes in their lines.
 */
const statement = `
  WITH given_sources AS MATERIALIZED (SELECT $4::text::bigint[] AS sources),
  turn AS MATERIALIZED (
    UPDATE account_imports SET entries = entries + cardinality(sources) FROM given_sources
    WHERE account = $1 AND number = $2 AND entries = $3 AND done_at IS NULL RETURNING sources
  ),
  given AS MATERIALIZED (
    SELECT f.source, ${columns.map((name) => `${expressions[name] ?? fieldOf(name)} AS ${name}`).join(', ')}
    FROM (
      SELECT a, a[1]::bigint AS source
      -- Split once, not for each field.
      FROM (SELECT string_to_array(line, E'\\t') AS a FROM turn, string_to_table($6, E'\\n') AS line OFFSET 0) AS split
    ) AS f
    LEFT JOIN jsonb_to_recordset($7::text::jsonb) AS o (source bigint, region text, city text) ON o.source = f.source
  ),
  changes AS MATERIALIZED (
    SELECT e.* FROM turn, jsonb_to_recordset($5::text::jsonb)
      AS e (position bigint, id text, stream text, version int, type text, schema smallint, data jsonb, actor text,
        occurred_at timestamptz)
  ),
  locked AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(${locks.append}), clock_timestamp() AS locked_at, sources
    FROM (SELECT count(*) FROM given) AS scans, (SELECT count(*) FROM changes) AS events, turn
  ),
  placed AS MATERIALIZED (
    SELECT source, nextval('log_position') AS position FROM locked, unnest(sources) AS source
  ),
  stored_scans AS (
    INSERT INTO scans (position, ${columns.join(', ')})
    SELECT p.position, ${columns.map((name) => `g.${name}`).join(', ')} FROM placed p JOIN given g ON g.source = p.source
    RETURNING 1
  ),
  stored_events AS (
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    SELECT p.position, e.id, e.stream, e.version, e.type, e.schema, e.data, e.actor, e.occurred_at
    FROM placed p JOIN changes e ON e.position = p.source
    RETURNING 1
  ),
  noted AS (
    INSERT INTO account_import_positions (account, number, position, sources)
    SELECT $1, $2, (SELECT min(position) FROM placed), sources FROM locked
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM stored_scans) + (SELECT count(*) FROM stored_events) AS entries,
    (SELECT max(position) - min(position) + 1 FROM placed) AS span,
    (SELECT extract(epoch FROM locked_at - statement_timestamp())::float8 FROM locked) AS free,
    (SELECT extract(epoch FROM clock_timestamp() - locked_at)::float8 FROM locked) AS held`;

interface Appended {
  entries: number;
  span: number | null;
  free: number | null;
  held: number | null;
}

/** How long a chunk had the append lock, and how long it was prepared before, in milliseconds. */
export interface AppendTimes {
  freeMs: number;
  heldMs: number;
}

interface ImportKey {
  account: string;
  number: number;
}

/** Appends a chunk to the log. */
export async function appendChunk(
  sql: Sql,
  { account, number }: ImportKey,
  { count, before, values }: EntryChunk,
): Promise<AppendTimes> {
  const [done] = await sql.unsafe<Appended[]>(statement, [account, number, before, ...values], { prepare: true });
  if (done?.entries !== count || done.span !== count)
    throw new Error(`Postgres did not confirm that ${count} entries of ${account} are appended`);
  appendLockHolds.observe(done.held ?? 0);
  return { freeMs: (done.free ?? 0) * 1_000, heldMs: (done.held ?? 0) * 1_000 };
}

function valuesOf(entries: FileEntry[], version: number): string[] {
  const scans = entries.flatMap((entry) => ('scan' in entry ? [entry.scan] : []));
  const lines =
    version === lineVersion || scans.length === 0
      ? scans
      : scanLines(version, scans.join('\n')).map(({ line }) => line);
  const escapes = lines.filter((line) => line.includes('\\')).map((line) => new ScanLine(line));
  return [
    `{${entries.map(({ position }) => position).join(',')}}`,
    JSON.stringify(entries.flatMap((entry) => ('event' in entry ? [entry.event] : []))),
    lines.join('\n'),
    JSON.stringify(escapes.map(({ position, region, city }) => ({ source: position, region, city }))),
  ];
}
