import type { Queryable } from '../lib/sql.ts';
import { readScanBlock } from '../log/scan-lines.ts';

/** The scans of a range in Postgres: their number, and the sum of the hashes of their rows. */
export interface Fingerprint {
  scans: number;
  hash: bigint;
}

interface BlocksOptions {
  /** Both inclusive. */
  range: { from: number; to: number };
  positionsPerBlock: number;
  /** What was read is added to it. */
  fingerprint: Fingerprint;
}

/** The lines of each block of the range that has scans in Postgres. */
export async function* scanBlocks(
  sql: Queryable,
  { range, positionsPerBlock, fingerprint }: BlocksOptions,
): AsyncGenerator<string[]> {
  for (let from = range.from; ; ) {
    const [first] = await sql<{ position: number }[]>`
      SELECT position FROM scans WHERE position >= ${from} AND position <= ${range.to} ORDER BY position LIMIT 1`;
    if (first === undefined) return;
    const end = (Math.floor((first.position - 1) / positionsPerBlock) + 1) * positionsPerBlock;
    const to = Math.min(end, range.to);
    const { lines, hash } = await readScanBlock(sql, { after: first.position - 1, to });
    fingerprint.scans += lines.length;
    fingerprint.hash += hash;
    yield lines;
    from = to + 1;
  }
}
