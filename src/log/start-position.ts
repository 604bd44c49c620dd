import type { Queryable } from '../lib/sql.ts';
import { blockSize, indexedTo } from './account-index.ts';
import { archivedPositionSince, lastArchivedPositions, listArchives } from './archives.ts';
import { headOfLog } from './read.ts';

/** Where a reader begins: at an end of the log, with the first entry of a time or later, or with the last n entries. */
export type Start = 'beginning' | 'end' | { since: Date } | { last: number };

/** The position after which a reader of the log begins, or a reader of one stream, which has no scans. */
export async function positionBefore(sql: Queryable, start: Start, stream?: string): Promise<number> {
  if (start === 'beginning') return 0;
  if (start === 'end') return headOfLog(sql);
  if ('since' in start) {
    const first =
      stream === undefined ? await firstSince(sql, start.since) : await firstOfStream(sql, stream, start.since);
    return first === undefined ? headOfLog(sql) : first - 1;
  }
  const ofStream = stream === undefined ? sql`` : sql`AND stream = ${stream}`;
  const withScans = stream === undefined;
  if (start.last === 0) return headOfLog(sql);
  const archived = withScans ? await archivedAmongLast(sql, start.last) : [];
  const [row] = await sql<[{ first: number | null }]>`
    SELECT min(position) AS first FROM (
      (SELECT position FROM events WHERE true ${ofStream} ORDER BY position DESC LIMIT ${start.last})
      UNION ALL
      (SELECT position FROM scans WHERE ${withScans} ORDER BY position DESC LIMIT ${start.last})
      UNION ALL
      SELECT unnest(${`{${archived.join()}}`}::text::bigint[])
      ORDER BY position DESC LIMIT ${start.last}
    ) AS latest`;
  return row.first === null ? 0 : row.first - 1;
}

/** The first position of an event of this stream and this time or later. */
async function firstOfStream(sql: Queryable, stream: string, since: Date): Promise<number | undefined> {
  const [row] = await sql<[{ first: number | null }]>`
    SELECT min(position) AS first FROM events WHERE stream = ${stream} AND occurred_at >= ${since}`;
  return row.first ?? undefined;
}

/**
 * The first position of an entry of this time or later. Entries that waited in a spool come later than others of their time,
 * so positions cannot be bisected by time: the index names the blocks that have an entry of that time, and what it does not
 * have yet is read block by block.
 */
async function firstSince(sql: Queryable, since: Date): Promise<number | undefined> {
  const archived = await archivedPositionSince(await listArchives(sql), since);
  const end = Math.min((archived ?? Number.POSITIVE_INFINITY) - 1, await headOfLog(sql));
  const indexed = await indexedTo(sql);
  const blocks = await sql<{ block: number }[]>`
    SELECT block FROM indexed_blocks WHERE latest >= ${since} ORDER BY block`;
  for (const { block } of blocks) {
    if (block * blockSize >= end) return archived;
    const first = await firstIn(sql, since, { after: block * blockSize, to: (block + 1) * blockSize });
    if (first !== undefined) return Math.min(first, archived ?? first);
  }
  for (let after = indexed; after < end; after += blockSize) {
    const first = await firstIn(sql, since, { after, to: after + blockSize });
    if (first !== undefined) return Math.min(first, archived ?? first);
  }
  return archived;
}

/** The same, of a part of the log without archived scans. */
async function firstIn(
  sql: Queryable,
  since: Date,
  { after, to }: { after: number; to: number },
): Promise<number | undefined> {
  const [row] = await sql<[{ first: number | null }]>`
    SELECT least(
      (SELECT min(position) FROM events WHERE position > ${after} AND position <= ${to} AND occurred_at >= ${since}),
      (SELECT min(position) FROM scans WHERE position > ${after} AND position <= ${to} AND occurred_at >= ${since})
    ) AS first`;
  return row.first ?? undefined;
}

/** Positions of archived scans that can be among the last `count` entries. */
async function archivedAmongLast(sql: Queryable, count: number): Promise<number[]> {
  const [recent] = await sql<[{ scans: number }]>`
    SELECT count(*) AS scans FROM (SELECT 1 FROM scans ORDER BY position DESC LIMIT ${count}) AS recent`;
  return recent.scans >= count ? [] : lastArchivedPositions(await listArchives(sql), count - recent.scans);
}
