import { type ScanBatch, sizeOf } from '../../events/scan-batch.ts';
import type { Sql } from './connect.ts';
import { locks } from './locks.ts';

export { batchOf, type ScanBatch, sizeOf, sliceOf } from '../../events/scan-batch.ts';

/** Postgres answered without proof that the batch is stored: the caller must send it again. */
export class UnprovenAppend extends Error {
  constructor({ writer, number }: ScanBatch) {
    super(`Postgres did not confirm that batch ${number} of writer ${writer} is stored`);
  }
}

/** What Postgres did with a batch: the writer's last stored batch number, and the rows inserted by this statement. */
interface Proof {
  writer: string;
  batch: number | null;
  rows: number;
}

/**
 * Stores a batch. Resolves only with proof from Postgres that it is stored, now or by an earlier call. Repeating it is
 * safe, and the caller must repeat it until it resolves.
 */
export async function appendScans(sql: Sql, batch: ScanBatch): Promise<void> {
  if (isStored(batch, await insertScans(sql, batch))) return;
  // Another connection may have stored it while this statement waited for its lock. The statement's snapshot does not
  // show that, but the next one does.
  if (!isStored(batch, await insertScans(sql, batch))) throw new UnprovenAppend(batch);
}

function isStored(batch: ScanBatch, proof: Proof | undefined): boolean {
  if (proof?.writer !== batch.writer || proof.batch === null) return false;
  return proof.rows === 0 ? proof.batch >= batch.number : proof.batch === batch.number && proof.rows === sizeOf(batch);
}

/**
 * Stores a batch and decides which of its scans are by new visitors, in one statement: one round trip, one commit. A
 * batch that is already stored changes nothing.
 *
 * The append lock is taken as late as possible, so that it covers only drawing positions, inserting the scans and the
 * commit. Visitors are inserted in sorted order, so that two batches with the same visitors cannot deadlock.
 */
async function insertScans(sql: Sql, { writer, number, columns: c }: ScanBatch): Promise<Proof | undefined> {
  const [proof] = await sql<Proof[]>`
    WITH turn AS (
      INSERT INTO scan_writers AS w (writer, batch, written_at) VALUES (${writer}, ${number}, now())
      ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at
        WHERE w.batch < excluded.batch
      RETURNING w.batch
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
    ),
    stored AS (
      INSERT INTO scans (position, id, code, account, mode, occurred_at, country, region, city, device, browser, is_bot,
        visitor, is_unique, revision)
      SELECT nextval('log_position'), g.id, g.code, g.account, g.mode, to_timestamp(g.ms / 1000), g.country, g.region,
        g.city, g.device, g.browser, g.is_bot, g.visitor, g.is_first AND n.visitor IS NOT NULL, g.revision
      FROM locked, given g LEFT JOIN newcomers n ON n.visitor = g.visitor
      RETURNING 1
    )
    SELECT ${writer}::text AS writer, (SELECT count(*) FROM stored) AS rows,
      coalesce((SELECT batch FROM turn), (SELECT batch FROM scan_writers WHERE writer = ${writer})) AS batch`;
  return proof;
}
