import { Buffer } from 'node:buffer';
import { type Owner, ownerKey } from '../../events/owner.ts';
import { ScanLine } from '../../events/scan-line.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { archivesIn, namesOf, readArchivedLines, withReplacedFiles } from './archives.ts';

/** Positions of one block: reading all scans of a block takes about 20 ms. */
export const blockSize = 65_536;

/** The block of a position; positions begin at 1. */
export const blockOf = (position: number) => Math.floor((position - 1) / blockSize);

/** An account with more entries in a block has no list of them: the block is read as a whole, which takes no longer. */
const maxListed = 4_096;

/** Half of a block, which makes an offset fit into a signed integer of two bytes. */
const offsetBias = blockSize / 2;

/** The positions that a list of `account_blocks` names. */
export const positionsIn = (list: Buffer, block: number): number[] =>
  Array.from({ length: list.length / 2 }, (_, i) => block * blockSize + 1 + offsetBias + list.readInt16BE(2 * i));

/** Another process has indexed the block, or its scans were moved to an archive file meanwhile. */
export class BlockChanged extends Error {}

/** The last position of the last block in the index; all entries up to it are in the index. */
export async function indexedTo(sql: Queryable): Promise<number> {
  const [row] = await sql<[{ blocks: number }]>`SELECT coalesce(max(block) + 1, 0) AS blocks FROM indexed_blocks`;
  return row.blocks * blockSize;
}

/**
 * Adds the block after the last one to the index, if the log, which ends at `head`, has all of it. Resolves to whether it has.
 *
 * Reads the log itself, so that neither appends nor the stream have anything to do with it. An entry in the index that the log
 * no longer has does no harm: readers get entries from the log.
 */
export async function indexNextBlock(sql: Sql, head: number): Promise<boolean> {
  const after = await indexedTo(sql);
  const to = after + blockSize;
  if (to > head) return false;
  const { files, archived } = await withReplacedFiles(async () => {
    const files = await archivesIn(sql, { after, to });
    return { files, archived: (await readArchivedLines(files, { after, to })).map((line) => new ScanLine(line)) };
  });
  await sql.begin(async (tx) => {
    const block = blockOf(to);
    const { count } = await tx`INSERT INTO indexed_blocks VALUES (${block}) ON CONFLICT DO NOTHING`;
    if (count === 0) throw new BlockChanged(`block ${block} of the log was indexed by another process`);
    // First, because scans in files are older than those in the table.
    if (archived.length > 0) await addArchived(tx, block, archived);
    await addStored(tx, block, { after, to });
    if (namesOf(await archivesIn(tx, { after, to })) !== namesOf(files))
      throw new BlockChanged(`scans of block ${block} of the log were moved while it was indexed`);
  });
  return true;
}

/** Adds the scans and changes of a block that Postgres has. */
async function addStored(tx: Transaction, block: number, { after, to }: { after: number; to: number }): Promise<void> {
  const inBlock = tx`position > ${after} AND position <= ${to}`;
  const listOf = (condition: ReturnType<Queryable>) => tx`
    CASE WHEN count(*) FILTER (WHERE ${condition}) <= ${maxListed} THEN coalesce(
      string_agg(int2send((position - 1 - ${after} - ${offsetBias})::int2), '' ORDER BY position) FILTER (WHERE ${condition}),
      ''
    ) END`;
  await tx`
    INSERT INTO account_blocks AS b (account, mode, block, scans, changes)
    SELECT account, mode, ${block}, ${listOf(tx`is_scan`)}, ${listOf(tx`NOT is_scan`)} FROM (
      SELECT account, mode, position, true AS is_scan FROM scans WHERE ${inBlock}
      UNION ALL
      SELECT c.account, c.mode, e.position, false FROM events e JOIN codes c ON c.id = e.stream WHERE ${eventsIn(tx, after, to)}
      UNION ALL
      -- An event of an account can be of either mode, or of both.
      SELECT e.stream, m.mode, e.position, false FROM events e CROSS JOIN (VALUES ('live'), ('test')) AS m (mode)
      WHERE ${eventsIn(tx, after, to)} AND starts_with(e.stream, 'acct_')
    ) AS entries
    GROUP BY account, mode
    ON CONFLICT (account, mode, block) DO UPDATE SET
      scans = b.scans || excluded.scans, changes = b.changes || excluded.changes`;
  await tx`
    UPDATE indexed_blocks SET latest = greatest(
      latest,
      (SELECT max(occurred_at) FROM scans WHERE ${inBlock}),
      (SELECT max(occurred_at) FROM events WHERE ${inBlock})
    )
    WHERE block = ${block}`;
}

const eventsIn = (sql: Queryable, after: number, to: number) => sql`e.position > ${after} AND e.position <= ${to}`;

async function addArchived(tx: Transaction, block: number, scans: ScanLine[]): Promise<void> {
  const byOwner = new Map<string, Owner & { positions: number[] }>();
  let latest = 0;
  for (const { account, mode, position, occurred_at } of scans) {
    const key = ownerKey({ account, mode });
    const owned = byOwner.get(key) ?? { account, mode, positions: [] };
    byOwner.set(key, owned);
    owned.positions.push(position);
    latest = Math.max(latest, occurred_at.getTime());
  }
  const rows = [...byOwner.values()].map(({ account, mode, positions }) => ({
    account,
    mode,
    scans: positions.length > maxListed ? null : listOf(positions, block).toString('hex'),
  }));
  await tx`
    INSERT INTO account_blocks (account, mode, block, scans, changes)
    SELECT account, mode, ${block}, decode(scans, 'hex'), ''
    FROM jsonb_to_recordset(${tx.json(rows)}) AS owned (account text, mode text, scans text)`;
  await tx`UPDATE indexed_blocks SET latest = ${new Date(latest)} WHERE block = ${block}`;
}

function listOf(positions: number[], block: number): Buffer {
  const list = Buffer.alloc(2 * positions.length);
  for (const [i, position] of positions.entries())
    list.writeInt16BE(position - 1 - block * blockSize - offsetBias, 2 * i);
  return list;
}

/** Rows that one statement changes. */
const maxPruned = 5_000;

/**
 * Removes lists of scans that the retention has removed from the log, a batch at a time; changes stay, as they do in the log.
 * Resolves to whether there are more.
 */
export async function pruneIndex(sql: Sql): Promise<boolean> {
  const [{ first }] = await sql<[{ first: number | null }]>`
    SELECT least(
      (SELECT position FROM scans ORDER BY position LIMIT 1),
      (SELECT min(from_position) FROM archives WHERE scans > 0)
    ) AS first`;
  const keptFrom = first === null ? blockOf(await indexedTo(sql)) + 1 : blockOf(first);
  const [unpruned] = await sql`SELECT 1 FROM indexed_blocks WHERE block < ${keptFrom} AND has_scans LIMIT 1`;
  if (unpruned === undefined) return false;
  // The oldest rows are the first of the table, so a batch is found without reading all of it.
  const [{ pruned }] = await sql<[{ pruned: number }]>`
    WITH old AS (
      SELECT account, mode, block, changes = '' AS is_empty FROM account_blocks
      WHERE block < ${keptFrom} AND scans IS DISTINCT FROM '' LIMIT ${maxPruned}
    ), emptied AS (
      UPDATE account_blocks b SET scans = '' FROM old
      WHERE (b.account, b.mode, b.block) = (old.account, old.mode, old.block) AND old.is_empty IS NOT TRUE
    ), deleted AS (
      DELETE FROM account_blocks b USING old
      WHERE (b.account, b.mode, b.block) = (old.account, old.mode, old.block) AND old.is_empty
    )
    SELECT count(*) AS pruned FROM old`;
  if (pruned === 0) await sql`UPDATE indexed_blocks SET has_scans = false WHERE block < ${keptFrom} AND has_scans`;
  return pruned > 0;
}
