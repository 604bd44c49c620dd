import type { Scan } from '../../events/scan.ts';
import type { Sql } from './connect.ts';
import { locks } from './locks.ts';

/** Scans that are stored together, numbered by who writes them. Sent again, it must be the very same. */
export interface ScanBatch {
  writer: string;
  number: number;
  /** The scans by column, each an array as Postgres writes it: what goes to the spool and to Postgres alike. */
  columns: Columns;
}

type Columns = Record<keyof Scan | 'is_first', string>;

const quoted = (text: string) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
const array = (values: unknown[]) => `{${values.join(',')}}`;

export function batchOf(writer: string, number: number, scans: Scan[]): ScanBatch {
  // Of several scans of one visitor in a batch, the first is the one that can be unique.
  const visitors = new Set<string>();
  const isFirst = ({ visitor }: Scan) => visitors.size < visitors.add(visitor).size;
  return {
    writer,
    number,
    columns: {
      is_first: array(scans.map(isFirst)),
      id: array(scans.map(({ id }) => id)),
      code: array(scans.map(({ code }) => code)),
      account: array(scans.map(({ account }) => account)),
      mode: array(scans.map(({ mode }) => mode)),
      occurred_at: array(scans.map(({ occurred_at }) => occurred_at.getTime())),
      country: array(scans.map(({ country }) => quoted(country))),
      region: array(scans.map(({ region }) => quoted(region))),
      city: array(scans.map(({ city }) => quoted(city))),
      device: array(scans.map(({ device }) => device)),
      browser: array(scans.map(({ browser }) => browser)),
      is_bot: array(scans.map(({ is_bot }) => is_bot)),
      visitor: array(scans.map(({ visitor }) => visitor)),
      revision: array(scans.map(({ revision }) => revision)),
    },
  };
}

/**
 * Stores a batch, and decides which of its scans are by new visitors, in one statement: one round trip, one commit.
 * A batch that was stored before changes nothing.
 *
 * The lock comes as late as it can, when all is ready to be given its place: only drawing positions, writing the scans
 * and committing are done one writer at a time. Visitors are written in their order, so that two writers who meet the
 * same ones wait for each other in one direction only.
 */
export async function appendScans(sql: Sql, { writer, number, columns: c }: ScanBatch): Promise<void> {
  await sql`
    WITH turn AS (
      INSERT INTO scan_writers AS w (writer, batch, written_at) VALUES (${writer}, ${number}, now())
      ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at
        WHERE w.batch < excluded.batch
      RETURNING 1
    ),
    given AS MATERIALIZED (
      SELECT s.* FROM turn, unnest(
        ${c.id}::text::text[], ${c.code}::text::text[], ${c.account}::text::text[], ${c.mode}::text::text[],
        ${c.occurred_at}::text::float8[], ${c.country}::text::text[], ${c.region}::text::text[],
        ${c.city}::text::text[], ${c.device}::text::text[], ${c.browser}::text::text[], ${c.is_bot}::text::boolean[],
        ${c.visitor}::text::uuid[], ${c.revision}::text::integer[], ${c.is_first}::text::boolean[]
      ) AS s (id, code, account, mode, ms, country, region, city, device, browser, is_bot, visitor, revision, is_first)
    ),
    newcomers AS (
      INSERT INTO visitors (code_hash, visitor)
      SELECT hashtextextended(code, 0) AS code_hash, visitor FROM given WHERE is_first ORDER BY code_hash, visitor
      ON CONFLICT DO NOTHING
      RETURNING visitor
    ),
    locked AS MATERIALIZED (
      SELECT pg_advisory_xact_lock(${locks.append}) FROM (SELECT count(*) FROM newcomers) AS decided
    )
    INSERT INTO scans (position, id, code, account, mode, occurred_at, country, region, city, device, browser, is_bot,
      visitor, is_unique, revision)
    SELECT nextval('log_position'), g.id, g.code, g.account, g.mode, to_timestamp(g.ms / 1000), g.country, g.region,
      g.city, g.device, g.browser, g.is_bot, g.visitor, g.is_first AND n.visitor IS NOT NULL, g.revision
    FROM locked, given g LEFT JOIN newcomers n ON n.visitor = g.visitor`;
}
