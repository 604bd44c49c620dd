import { Buffer } from 'node:buffer';
import { type SealerKeys, sealerKeys } from '../lib/sealed-text.ts';
import type { Queryable } from '../lib/sql.ts';

/** A restore of a backup: up to `after` the log is the one that was backed up. */
export interface Branch {
  branch: number;
  after: number;
}

/** What the cursors of a log are sealed with. */
export interface CursorSource {
  keys: SealerKeys;
  branch: number;
  /** All restores that the log has been through. */
  branches: Branch[];
}

/** Reads what cursors depend on. It does not change while a service runs: a restore needs an empty database. */
export async function readCursorSource(sql: Queryable): Promise<CursorSource> {
  const [row] = await sql<[{ key: string; branch: number }]>`
    SELECT encode((SELECT value FROM secrets WHERE name = 'event_cursor'), 'hex') AS key,
      coalesce((SELECT ('x' || encode(value, 'hex'))::bit(32)::int FROM secrets WHERE name = 'branch'), 0) AS branch`;
  const branches = await sql<Branch[]>`
    SELECT branch, after FROM log_branches ORDER BY number NULLS FIRST, after, branch`;
  return { keys: sealerKeys(Buffer.from(row.key, 'hex'), 'cursor'), branch: row.branch, branches: [...branches] };
}
