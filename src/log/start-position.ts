import { archivedPositionSince, lastArchivedPositions, listArchives } from './archives.ts';
import type { Queryable } from './connect.ts';
import { headOfLog } from './read.ts';

/** Where a reader begins: at an end of the log, with the first entry of a time or later, or with the last n entries. */
export type Start = 'beginning' | 'end' | { since: Date } | { last: number };

/** The position after which a reader of the log begins, or a reader of one stream, which has no scans. */
export async function positionBefore(sql: Queryable, start: Start, stream?: string): Promise<number> {
  if (start === 'beginning') return 0;
  if (start === 'end') return headOfLog(sql);
  const ofStream = stream === undefined ? sql`` : sql`AND stream = ${stream}`;
  const withScans = stream === undefined;
  if ('since' in start) {
    const archived = withScans ? await archivedPositionSince(await listArchives(sql), start.since) : undefined;
    // No index has the time: entries that waited in a spool come later than others of their time, so it reads every entry.
    const [row] = await sql<[{ first: number | null }]>`
      SELECT least(
        (SELECT min(position) FROM events WHERE occurred_at >= ${start.since} ${ofStream}),
        (SELECT min(position) FROM scans WHERE occurred_at >= ${start.since} AND ${withScans}),
        ${archived ?? null}::bigint
      ) AS first`;
    return row.first === null ? headOfLog(sql) : row.first - 1;
  }
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

/** Positions of archived scans that can be among the last `count` entries. */
async function archivedAmongLast(sql: Queryable, count: number): Promise<number[]> {
  const [recent] = await sql<[{ scans: number }]>`
    SELECT count(*) AS scans FROM (SELECT 1 FROM scans ORDER BY position DESC LIMIT ${count}) AS recent`;
  return recent.scans >= count ? [] : lastArchivedPositions(await listArchives(sql), count - recent.scans);
}
