import { rowsOf, type ScanBatch, sizeOf } from '../../events/scan-batch.ts';
import { appendLockHolds } from '../lib/append-lock-holds.ts';
import type { Sql } from '../lib/sql.ts';
import { locks } from './locks.ts';

export { batchOf, mergeBatches, type ScanBatch, sizeOf, sliceOf } from '../../events/scan-batch.ts';

/** Postgres answered without proof that the batch is stored: the caller must send it again. */
export class UnprovenAppend extends Error {
  constructor({ writer, number }: ScanBatch) {
    super(`Postgres did not confirm that batch ${number} of writer ${writer} is stored`);
  }
}

/**
 * An earlier call has stored the beginning of a merged batch: the batches up to number `storedTo`. This call has stored
 * nothing, and the caller must send the rest.
 */
export class PartlyStored extends Error {
  readonly storedTo: number;

  constructor({ writer, first, number }: ScanBatch, storedTo: number) {
    super(`batches ${first} to ${number} of writer ${writer} were stored only up to ${storedTo}`);
    this.storedTo = storedTo;
  }
}

/** What Postgres did with a batch: the writer's last stored batch number, and the rows inserted by this statement. */
interface Proof {
  writer: string;
  batch: number | null;
  rows: number;
  /** For how many seconds the append lock was held before the commit; null if nothing was inserted. */
  held: number | null;
}

/**
 * Stores a batch. Resolves only with proof from Postgres that it is stored, now or by an earlier call. Repeating it is
 * safe, and the caller must repeat it until it resolves.
 *
 * A merged batch is stored only while the writer's last stored number is below its first, so none of its batches is stored
 * twice, even if others were merged before a crash. Otherwise it throws `PartlyStored`.
 */
export async function appendScans(sql: Sql, batch: ScanBatch): Promise<void> {
  if (isStored(batch, await insertScans(sql, batch))) return;
  // Another connection may have stored it while this statement waited for its lock. The statement's snapshot does not
  // show that, but the next one does.
  if (!isStored(batch, await insertScans(sql, batch))) throw new UnprovenAppend(batch);
}

function isStored(batch: ScanBatch, proof: Proof | undefined): boolean {
  if (proof?.writer !== batch.writer || proof.batch === null) return false;
  if (proof.rows > 0) return proof.batch === batch.number && proof.rows === sizeOf(batch);
  if (proof.batch >= batch.number) return true;
  if (batch.first !== undefined && proof.batch >= batch.first) throw new PartlyStored(batch, proof.batch);
  return false;
}

/**
 * The statement that stores a batch and decides which of its scans are by new visitors: one round trip, one commit. A batch
 * that is already stored changes nothing. $1 is the writer, $2 the number of the batch, $3 the first number in it; `source`
 * returns its scans, and `optional` names the columns that not every batch has.
 *
 * The append lock is taken as late as possible, so that it covers only drawing positions, inserting the scans and the
 * commit. Visitors are inserted in sorted order, so that two batches with the same visitors cannot deadlock.
 */
const statementFor = (source: string, optional: string[]) => `
  WITH turn AS (
    INSERT INTO scan_writers AS w (writer, batch, written_at) VALUES ($1, $2, now())
    ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at
      WHERE w.batch < $3::bigint
    RETURNING w.batch
  ),
  given AS MATERIALIZED (
    SELECT s.* FROM turn, ${source}
      AS s (id, code, account, mode, ms, country, region, city, device, browser, is_bot, visitor, revision,
        ${['is_first', ...optional].join(', ')})
  ),
  newcomers AS (
    INSERT INTO visitors (code_hash, visitor)
    SELECT hashtextextended(code, 0) AS code_hash, visitor FROM given WHERE is_first ORDER BY code_hash, visitor
    ON CONFLICT DO NOTHING
    RETURNING visitor
  ),
  locked AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(${locks.append}), clock_timestamp() AS locked_at
    FROM (SELECT count(*) FROM newcomers) AS decided
  ),
  stored AS (
    INSERT INTO scans (position, id, code, account, mode, occurred_at, country, region, city, device, browser, is_bot,
      visitor, is_unique, ${['revision', ...optional].join(', ')})
    SELECT nextval('log_position'), g.id, g.code, g.account, g.mode, to_timestamp(g.ms / 1000), g.country, g.region,
      g.city, g.device, g.browser, g.is_bot, g.visitor, g.is_first AND n.visitor IS NOT NULL,
      ${['revision', ...optional].map((name) => `g.${name}`).join(', ')}
    FROM locked, given g LEFT JOIN newcomers n ON n.visitor = g.visitor
    RETURNING 1
  )
  SELECT $1::text AS writer, (SELECT count(*) FROM stored) AS rows,
    coalesce((SELECT batch FROM turn), (SELECT batch FROM scan_writers WHERE writer = $1)) AS batch,
    (SELECT extract(epoch FROM clock_timestamp() - locked_at)::float8 FROM locked) AS held`;

type Column = keyof ScanBatch['columns'];

/** The columns of a batch, with their types, in the order of the statement. */
const columnTypes = {
  id: 'text',
  code: 'text',
  account: 'text',
  mode: 'text',
  occurred_at: 'float8',
  country: 'text',
  region: 'text',
  city: 'text',
  device: 'text',
  browser: 'text',
  is_bot: 'boolean',
  visitor: 'uuid',
  revision: 'integer',
  is_first: 'boolean',
};
/** Only in batches with a scan that took a rule, so that other batches cost nothing more. */
const optionalTypes = { rule: 'text', variant: 'text' };

/**
 * Up to this size a batch is sent as a list of rows, which takes half to three quarters of the CPU that arrays take in
 * Postgres (170 to 190 instead of 271 µs for one scan, commit included); from 10 on there is no difference.
 */
const maxListed = 8;

/** The statements for batches with these columns: one for arrays, and one for each size of a list. */
function statementsFor(columns: Record<string, string>, optional: string[]) {
  const types = Object.values(columns);
  const row = (r: number) => `(${types.map((type, i) => `$${r * types.length + i + 4}::text::${type}`).join(', ')})`;
  const rows = (size: number) => Array.from({ length: size }, (_, r) => row(r)).join(', ');
  return {
    names: Object.keys(columns) as Column[],
    arrays: statementFor(`unnest(${types.map((type, i) => `$${i + 4}::text::${type}[]`).join(', ')})`, optional),
    lists: Array.from({ length: maxListed + 1 }, (_, size) => statementFor(`(VALUES ${rows(size)})`, optional)),
  };
}

const plain = statementsFor(columnTypes, []);
const allTypes: Record<Column, string> = { ...columnTypes, ...optionalTypes };
const ruled = statementsFor(allTypes, Object.keys(optionalTypes));

async function insertScans(sql: Sql, batch: ScanBatch): Promise<Proof | undefined> {
  const { writer, number, first = number, columns } = batch;
  const size = sizeOf(batch);
  const { names, arrays, lists } = columns.rule === undefined ? plain : ruled;
  const text = size > maxListed ? arrays : (lists[size] as string);
  const values = size > maxListed ? names.map((name) => columns[name] ?? null) : rowsOf(batch, names).flat();
  const [proof] = await sql.unsafe<Proof[]>(text, [writer, number, first, ...values], { prepare: true });
  appendLockHolds.observe(proof?.held ?? 0);
  return proof;
}
