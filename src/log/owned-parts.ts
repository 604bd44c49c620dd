import { Buffer } from 'node:buffer';
import type { Owner } from '../../events/owner.ts';
import type { Queryable } from '../lib/sql.ts';
import { blockOf, blockSize, indexedTo, positionsIn } from './account-index.ts';

/** Positions of one owner's entries, in log order. */
export interface OwnedPositions {
  scans: number[];
  changes: number[];
}

/** A part of the log: positions after `after`, up to `to`. */
export interface OwnedPart {
  after: number;
  to: number;
  /** The owner's entries; undefined if any entry of the part can be the owner's. */
  owned: OwnedPositions | undefined;
}

interface PartOptions {
  wantsScans: boolean;
  wantsChanges: boolean;
  /** How many entries of the owner a part can have. */
  maxEntries: number;
  /** How many positions a part has at most whose entries are not known to be the owner's. */
  maxPositions: number;
}

const maxBlocksPerQuery = 1_024;

/**
 * The first part of a range in which the owner can have entries. Before it, the owner has none. The part is empty, at the end of
 * the range, if there are none at all.
 */
export async function nextOwnedPart(
  sql: Queryable,
  owner: Owner,
  { after, to }: { after: number; to: number },
  options: PartOptions,
): Promise<OwnedPart> {
  const known = Math.min(await indexedTo(sql), to);
  if (after >= known) return { after, to: Math.min(after + options.maxPositions, to), owned: undefined };
  const found = await findBlocks(sql, owner, { after, to: known }, options);
  const isArchived = found[0] !== undefined && found[0].block * blockSize < (await archivedTo(sql));
  const blocks = isArchived ? found.slice(0, 1) : found;
  const dense = blocks.findIndex(({ scans, changes }) => scans === null || changes === null);
  const [first] = blocks;
  if (dense === 0 && first !== undefined) {
    const from = Math.max(after, first.block * blockSize);
    const end = Math.min((first.block + 1) * blockSize, known);
    return { after: from, to: Math.min(from + options.maxPositions, end), owned: undefined };
  }
  const listed = dense === -1 ? blocks : blocks.slice(0, dense);
  return partOf(listed, { after, to: known }, options, listed.length < found.length);
}

/** The end of the archive. A block of a file is decoded as a whole, so a part has no more than one of them. */
async function archivedTo(sql: Queryable): Promise<number> {
  const [row] = await sql<[{ position: number }]>`SELECT coalesce(max(to_position), 0) AS position FROM archives`;
  return row.position;
}

/** The entries of some blocks. `isCut`: the owner has entries in a block after them. */
function partOf(
  blocks: BlockRow[],
  { after, to }: { after: number; to: number },
  { maxEntries }: PartOptions,
  isCut: boolean,
): OwnedPart {
  const isInRange = (position: number) => position > after && position <= to;
  const positionsOf = (list: 'scans' | 'changes') =>
    blocks.flatMap((row) => positionsIn(row[list] ?? noBytes, row.block)).filter(isInRange);
  const owned = { scans: positionsOf('scans'), changes: positionsOf('changes') };
  const all = owned.changes.length === 0 ? owned.scans : [...owned.scans, ...owned.changes].sort((a, b) => a - b);
  const listed = blocks.reduce(
    (sum, { scans, changes }) => sum + ((scans?.length ?? 0) + (changes?.length ?? 0)) / 2,
    0,
  );
  const last = blocks.at(-1);
  const mayHaveMore = isCut || listed >= maxEntries || blocks.length === maxBlocksPerQuery;
  const end = mayHaveMore && last !== undefined ? Math.min((last.block + 1) * blockSize, to) : to;
  if (all.length <= maxEntries) return { after, to: end, owned };
  const cut = all[maxEntries - 1] as number;
  const upToCut = (positions: number[]) => positions.filter((position) => position <= cut);
  return { after, to: cut, owned: { scans: upToCut(owned.scans), changes: upToCut(owned.changes) } };
}

const noBytes = Buffer.alloc(0);

interface BlockRow {
  block: number;
  scans: Buffer | null;
  changes: Buffer | null;
}

/** The next blocks in which the owner has entries, until they have `maxEntries`. */
const findBlocks = (
  sql: Queryable,
  { account, mode }: Owner,
  { after, to }: { after: number; to: number },
  { wantsScans, wantsChanges, maxEntries }: PartOptions,
): Promise<BlockRow[]> => sql<BlockRow[]>`
  SELECT block, scans, changes FROM (
    SELECT *, sum(bytes) OVER (ORDER BY block ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before FROM (
      SELECT *, coalesce(octet_length(scans), 0) + coalesce(octet_length(changes), 0) AS bytes FROM (
        SELECT block, CASE WHEN ${wantsScans} THEN scans ELSE '' END AS scans,
          CASE WHEN ${wantsChanges} THEN changes ELSE '' END AS changes
        FROM account_blocks
        WHERE account = ${account} AND mode = ${mode} AND block >= ${blockOf(after + 1)} AND block <= ${blockOf(to)}
      ) AS lists
      WHERE scans IS DISTINCT FROM '' OR changes IS DISTINCT FROM ''
      ORDER BY block LIMIT ${maxBlocksPerQuery}
    ) AS next
  ) AS counted
  WHERE bytes_before < ${2 * maxEntries} ORDER BY block`;
