import type { Queryable, Transaction } from '../src/lib/sql.ts';
import type { Endpoint } from './webhook-endpoints.ts';

const columns = (sql: Queryable) =>
  sql(['account', 'webhook', 'is_set', 'is_paid', 'generation', 'stopped_by', 'dropping', 'filter']);

export const readEndpoints = (sql: Queryable, accounts: string[]): Promise<Endpoint[]> =>
  sql<Endpoint[]>`SELECT ${columns(sql)} FROM endpoints WHERE account = ANY(${accounts})`;

/** Locks the endpoints until the commit: a worker that releases one waits, and then sees the new deliveries. */
export const lockEndpoints = (tx: Transaction, accounts: string[]): Promise<Endpoint[]> =>
  tx<Endpoint[]>`
    SELECT ${columns(tx)} FROM endpoints WHERE account = ANY(${accounts}) ORDER BY account, webhook FOR UPDATE`;

export async function saveEndpoints(tx: Transaction, endpoints: Endpoint[]): Promise<void> {
  const rows = JSON.parse(JSON.stringify(endpoints));
  await tx`
    INSERT INTO endpoints (${columns(tx)})
    SELECT ${columns(tx)} FROM jsonb_populate_recordset(NULL::endpoints, ${tx.json(rows)})
    ORDER BY account, webhook
    ON CONFLICT (account, webhook) DO UPDATE SET
      is_set = excluded.is_set, is_paid = excluded.is_paid, generation = excluded.generation,
      stopped_by = excluded.stopped_by, dropping = excluded.dropping, filter = excluded.filter, failing_since = NULL`;
}
