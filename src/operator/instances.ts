import type { Queryable } from '../lib/sql.ts';

/** One process of the service, as it reported itself. */
export interface Instance {
  id: string;
  host: string;
  pid: number;
  version: string;
  roles: string[];
  started_at: Date;
  seen_at: Date;
  /** Scans on the disk of the edge that are not in the log yet; null without the role. */
  spool_bytes: number | null;
  /** How long the edge needs for them at its last rate. */
  spool_seconds: number | null;
  disk_free: number | null;
  disk_size: number | null;
}

/** What a process reports of itself; Postgres adds the time, so that clocks of several machines cannot differ. */
export type Report = Omit<Instance, 'started_at' | 'seen_at'>;

export async function reportInstance(sql: Queryable, report: Report): Promise<void> {
  const { id, host, pid, version, roles, spool_bytes, spool_seconds, disk_free, disk_size } = report;
  await sql`
    INSERT INTO instances (id, host, pid, version, roles, started_at, seen_at, spool_bytes, spool_seconds, disk_free, disk_size)
    VALUES (${id}, ${host}, ${pid}, ${version}, ${roles}, clock_timestamp(), clock_timestamp(), ${spool_bytes},
      ${spool_seconds}, ${disk_free}, ${disk_size})
    ON CONFLICT (id) DO UPDATE SET
      seen_at = excluded.seen_at, spool_bytes = excluded.spool_bytes, spool_seconds = excluded.spool_seconds,
      disk_free = excluded.disk_free, disk_size = excluded.disk_size`;
}

export const removeInstance = (sql: Queryable, id: string) => sql`DELETE FROM instances WHERE id = ${id}`;

export interface ListedInstance extends Instance {
  /** Whether it has not reported itself for a minute: it was killed, or cannot reach Postgres. */
  is_silent: boolean;
}

const maxInstances = 200;

/** The processes that reported themselves in the last hour: older rows are swept. */
export const listInstances = (sql: Queryable): Promise<ListedInstance[]> =>
  sql<ListedInstance[]>`
    SELECT *, seen_at < clock_timestamp() - interval '1 minute' AS is_silent
    FROM instances ORDER BY host, started_at, id LIMIT ${maxInstances}`;
