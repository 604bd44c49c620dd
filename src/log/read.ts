import { type DomainEvent, upcast } from '../../events/catalogue.ts';
import type { Recorded } from '../../events/recorded.ts';
import type { Queryable } from './connect.ts';

interface Row {
  position: number;
  id: string;
  stream: string;
  version: number;
  type: string;
  schema: number;
  data: unknown;
  actor: string;
  occurred_at: Date;
}

const recorded = ({ type, schema, data, ...place }: Row): Recorded<DomainEvent> => ({
  ...upcast(type, schema, data),
  ...place,
});

/** Everything that happened to one code or account behind position `after`, oldest first. */
export async function readStream(sql: Queryable, stream: string, after = 0): Promise<Recorded<DomainEvent>[]> {
  const rows = await sql<Row[]>`
    SELECT * FROM events WHERE stream = ${stream} AND position > ${after} ORDER BY version`;
  return rows.map(recorded);
}

/** Up to `limit` events behind position `after`, in the order of the log. */
export async function readLog(sql: Queryable, after: number, limit: number): Promise<Recorded<DomainEvent>[]> {
  const rows = await sql<Row[]>`SELECT * FROM events WHERE position > ${after} ORDER BY position LIMIT ${limit}`;
  return rows.map(recorded);
}

/** The position of the newest event; 0 while there is none. */
export async function lastPosition(sql: Queryable): Promise<number> {
  const [row] = await sql<{ position: number }[]>`SELECT coalesce(max(position), 0) AS position FROM events`;
  return row?.position ?? 0;
}
