import type { Sql } from '../log/connect.ts';
import type { Receiver } from './receiver.ts';

/** What a webhook was told of the scans in the log. */
export interface Told {
  /** Scans that it is to be told of. */
  scans: number;
  untold: number;
  /** Those told under more than one id: whoever receives them could not know them again. */
  renamed: number;
}

export async function tellingOf(sql: Sql, { told, renamed }: Receiver): Promise<Told> {
  const scans = await sql<{ id: string }[]>`SELECT id FROM scans`;
  return {
    scans: scans.length,
    untold: scans.filter(({ id }) => !told.has(id)).length,
    renamed: renamed(),
  };
}

/** Lets the time until the next attempts pass at once. Locks as everybody does: endpoints first. */
export async function hurryDeliveries(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SELECT 1 FROM webhook_endpoints ORDER BY account, mode FOR UPDATE`;
    await tx`UPDATE webhook_deliveries SET due_at = now() WHERE status = 'pending' AND due_at > now()`;
    await tx`UPDATE webhook_endpoints SET due_at = now()`;
  });
}
