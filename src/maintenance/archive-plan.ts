import type { Queryable, Sql } from '../lib/sql.ts';
import { blockSize } from '../log/account-index.ts';
import { listPartitions, type Partition } from '../log/partitions.ts';

/** The part of the log that a run moves: positions after `after`, up to `to`. */
export interface ArchivePlan {
  after: number;
  to: number;
  scans: number;
  /** A projection that has not applied older scans yet, which therefore stay. */
  waitsFor: string | undefined;
}

/**
 * The longest range after the archived positions in which every scan is from before `before`, and which all projections
 * have applied. A scan that waited in a spool can be younger than those around it; the range ends before it.
 */
export const planArchive = (sql: Sql, before: Date): Promise<ArchivePlan> =>
  sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    const after = await archivedTo(tx);
    const applied = await appliedByAll(tx);
    const [younger] = await tx<{ position: number }[]>`
      SELECT position FROM scans WHERE position > ${after} AND position <= ${applied.position} AND occurred_at >= ${before}
      ORDER BY position LIMIT 1`;
    const [ahead] = await tx`
      SELECT 1 FROM scans WHERE position > ${applied.position} AND occurred_at < ${before} LIMIT 1`;
    const to = Math.max(after, younger === undefined ? applied.position : younger.position - 1);
    const [{ scans }] = await tx<[{ scans: number }]>`
      SELECT count(*) AS scans FROM scans WHERE position > ${after} AND position <= ${to}`;
    const waitsFor = younger === undefined && ahead !== undefined ? applied.slowest : undefined;
    return { after, to, scans, waitsFor };
  });

/** The last archived position; 0 if there is none. */
export async function archivedTo(sql: Queryable): Promise<number> {
  const [{ position }] = await sql<[{ position: number }]>`
    SELECT coalesce(max(to_position), 0) AS position FROM archives`;
  return position;
}

async function appliedByAll(sql: Queryable): Promise<{ position: number; slowest: string }> {
  const [reached] = await sql<[Record<'counters' | 'webhooks' | 'warehouse', number>]>`
    SELECT
      coalesce((SELECT position FROM checkpoints WHERE projection = 'counters'), -1) AS counters,
      coalesce((SELECT position FROM checkpoints WHERE projection = 'webhooks'), -1) AS webhooks,
      coalesce((SELECT position FROM warehouse_tables WHERE in_use), -1) AS warehouse`;
  const names = ['counters', 'webhooks', 'warehouse'] as const;
  const slowest = names.reduce((least, name) => (reached[name] < reached[least] ? name : least));
  return { position: reached[slowest], slowest };
}

/** Positions of a file, from its first scan on, and of a row group. The first is a multiple of the second. */
export interface ArchiveSizes {
  positionsPerFile: number;
  positionsPerBlock: number;
}

/** A file of 4 million scans has about 150 MB. */
export const defaultSizes: ArchiveSizes = { positionsPerFile: 64 * blockSize, positionsPerBlock: blockSize };

/** Scans that are moved in one transaction. */
export interface ArchiveUnit {
  /** The positions of each file, both inclusive; contiguous. */
  ranges: { from: number; to: number }[];
  to: number;
  /** Partitions that have no scans after that, and are dropped; without any, the scans are deleted. */
  partitions: Partition[];
}

/**
 * The next unit of a plan: a whole partition in several files, if the plan has all of it, since dropping it costs nothing;
 * else one file. Undefined if no scan is left.
 */
export async function nextUnit(
  sql: Queryable,
  plan: { after: number; to: number },
  sizes: ArchiveSizes,
): Promise<ArchiveUnit | undefined> {
  const partitions = await listPartitions(sql);
  const whole = (unit: { to: number }) => partitions.filter(({ to }) => to - 1 <= unit.to);
  let first = await firstScan(sql, plan.after, plan.to);
  if (first === undefined) return undefined;
  const end = (partitions.find(({ to }) => to > (first as number))?.to ?? Number.POSITIVE_INFINITY) - 1;
  const ranges: ArchiveUnit['ranges'] = [];
  const unitTo = Math.min(end, plan.to);
  for (let from = plan.after + 1; first !== undefined; ) {
    const to = Math.min(endOfFile(first, sizes), unitTo);
    if (end > plan.to) return { ranges: [{ from, to }], to, partitions: whole({ to }) };
    first = await firstScan(sql, to, unitTo);
    ranges.push({ from, to: first === undefined ? unitTo : to });
    from = to + 1;
  }
  return { ranges, to: unitTo, partitions: whole({ to: unitTo }) };
}

async function firstScan(sql: Queryable, after: number, to: number): Promise<number | undefined> {
  const [first] = await sql<{ position: number }[]>`
    SELECT position FROM scans WHERE position > ${after} AND position <= ${to} ORDER BY position LIMIT 1`;
  return first?.position;
}

/** At the end of a block, so that a row group has all scans of a block. */
const endOfFile = (first: number, { positionsPerFile, positionsPerBlock }: ArchiveSizes) =>
  Math.floor((first - 1) / positionsPerBlock) * positionsPerBlock + positionsPerFile;
