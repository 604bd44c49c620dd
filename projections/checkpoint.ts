import type { Queryable } from '../src/lib/sql.ts';

/** Another process has moved the projection's checkpoint or table: the projection restarts from the stored one. */
export class Superseded extends Error {}

/**
 * Moves a projection's checkpoint, in the transaction of its effect. Throws `Superseded` unless Postgres returns the new
 * position. The transaction does not wait for the disk or a standby, because redirects sync to the same disk: a crash can lose checkpoint
 * and effect together, and both are applied again.
 */
export async function moveCheckpoint(
  tx: Queryable,
  projection: string,
  { after, to }: { after: number; to: number },
): Promise<void> {
  const [moved] = await tx<{ projection: string; position: number }[]>`
    UPDATE checkpoints SET position = ${to}
    WHERE projection = ${projection} AND position = ${after} AND NOT is_rewound
    RETURNING projection, position, set_config('synchronous_commit', 'off', true)`;
  if (moved?.projection !== projection || moved.position !== to)
    throw new Superseded(`the checkpoint of ${projection} is no longer at ${after}`);
}

/**
 * The checkpoint of a projection, in a transaction whose commit does not wait for the disk or a standby either. Throws `Superseded`
 * while the projection is rewound.
 */
export async function readCheckpoint(tx: Queryable, projection: string): Promise<number> {
  const [row] = await tx<{ position: number }[]>`
    SELECT position, set_config('synchronous_commit', 'off', true) FROM checkpoints
    WHERE projection = ${projection} AND NOT is_rewound`;
  if (row === undefined) throw new Superseded(`the checkpoint of ${projection} is moved back`);
  return row.position;
}
