import type { EndpointKey, Sql } from './sql.ts';

/** An endpoint that this worker alone sends for, until its lease runs out. */
export interface Held extends EndpointKey {
  generation: number;
}

/**
 * Leases on endpoints. One holder sends for an endpoint at a time, so the limit on what is in flight holds over all
 * instances, and no delivery is sent by two at once. A holder that dies loses nothing: what it had not recorded is still
 * waiting when the lease has run out. Time is the database's own here, which all workers share.
 */
export function createLeases(sql: Sql, holder: string, leaseMs: number) {
  const until = () => sql`now() + ${leaseMs / 1000} * interval '1 second'`;
  // In the order in which everybody locks endpoints: in any other, two could wait for each other.
  const mine = () => sql`
    (SELECT account, mode FROM webhook_endpoints WHERE lease = ${holder} ORDER BY account, mode FOR UPDATE) AS mine`;
  return {
    /**
     * Takes up to `most` endpoints with something due, those that are due the longest first. How much waits behind them
     * makes no difference: there is one row for each, whatever its backlog.
     */
    claim: (now: Date, most: number): Promise<Held[]> =>
      sql<Held[]>`
        UPDATE webhook_endpoints AS e SET lease = ${holder}, lease_until = ${until()}
        FROM (
          SELECT account, mode FROM webhook_endpoints
          WHERE is_set AND is_paid AND due_at <= ${now} AND (lease IS NULL OR lease_until < now())
          ORDER BY due_at LIMIT ${most}
          FOR UPDATE SKIP LOCKED
        ) AS free
        WHERE e.account = free.account AND e.mode = free.mode
        RETURNING e.account, e.mode, e.generation`,

    /** Makes all leases of this worker last longer; answers with those that nobody has taken over. */
    renew: (): Promise<EndpointKey[]> =>
      sql<EndpointKey[]>`
        UPDATE webhook_endpoints AS e SET lease_until = ${until()} FROM ${mine()}
        WHERE e.account = mine.account AND e.mode = mine.mode
        RETURNING e.account, e.mode`,

    /**
     * Gives an endpoint back, and says when it is due next. `yielding`, it goes behind those that are due now. Answers
     * whether it was given back: not when more is due that the holder can go on with.
     */
    release: (key: Held, now: Date, yielding: boolean): Promise<boolean> =>
      sql.begin(async (tx) => {
        // First the lock, then the look: what is delivered in between would otherwise wait unseen.
        const [row] = await tx<{ generation: number }[]>`
          SELECT generation FROM webhook_endpoints
          WHERE account = ${key.account} AND mode = ${key.mode} AND lease = ${holder}
          FOR UPDATE`;
        if (row === undefined) return true;
        const [{ due_at }] = await tx<[{ due_at: Date | null }]>`
          SELECT min(due_at) AS due_at FROM webhook_deliveries
          WHERE account = ${key.account} AND mode = ${key.mode} AND status = 'pending'
            AND generation = ${row.generation}`;
        const more = due_at !== null && due_at <= now;
        if (more && !yielding && row.generation === key.generation) return false;
        await tx`
          UPDATE webhook_endpoints SET lease = NULL, lease_until = NULL, due_at = ${more ? now : due_at}
          WHERE account = ${key.account} AND mode = ${key.mode}`;
        return true;
      }),

    /** Gives an endpoint back that cannot be served as it is, for others to look at a little later. */
    postpone: async (key: EndpointKey, to: Date): Promise<void> => {
      await sql`
        UPDATE webhook_endpoints SET lease = NULL, lease_until = NULL, due_at = ${to}
        WHERE account = ${key.account} AND mode = ${key.mode} AND lease = ${holder}`;
    },

    /** Gives everything back at the end. */
    releaseAll: async (): Promise<void> => {
      await sql`
        UPDATE webhook_endpoints AS e SET lease = NULL, lease_until = NULL FROM ${mine()}
        WHERE e.account = mine.account AND e.mode = mine.mode`;
    },
  };
}

export type Leases = ReturnType<typeof createLeases>;
