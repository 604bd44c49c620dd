import type { Owner } from '../../events/owner.ts';
import type { Queryable, Sql } from '../lib/sql.ts';

/** An endpoint that this worker alone sends for, until its lease runs out. */
export interface Held extends Owner {
  generation: number;
}

/** An example event that waits for a slot, or has one. */
export interface EndpointTest extends Owner {
  id: string;
  granted: boolean;
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
  /** Example events of the endpoints that this worker has; those whose process died are left out. */
  const tests = (on: Queryable): Promise<EndpointTest[]> =>
    on<EndpointTest[]>`
      SELECT t.id, t.account, t.mode, t.granted
      FROM webhook_tests t JOIN webhook_endpoints e USING (account, mode)
      WHERE e.lease = ${holder} AND t.until > now()`;
  return {
    tests: () => tests(sql),

    /** There is room for these. Not granted by a worker that no longer has the lease: the new one counts its own. */
    grantTests: async (ids: string[]): Promise<void> => {
      await sql`
        UPDATE webhook_tests AS t SET granted = true FROM webhook_endpoints AS e
        WHERE t.id = ANY(${ids}) AND e.account = t.account AND e.mode = t.mode AND e.lease = ${holder}`;
    },

    /**
     * Takes up to `most` endpoints with something due, those that are due the longest first. How much waits behind them
     * makes no difference: there is one row for each, whatever its backlog. The example events are read in the same
     * transaction (test-slots.ts).
     */
    claim: (now: Date, most: number): Promise<{ held: Held[]; tests: EndpointTest[] }> =>
      sql.begin(async (tx) => {
        const held = await tx<Held[]>`
        UPDATE webhook_endpoints AS e SET lease = ${holder}, lease_until = ${until()}
        FROM (
          SELECT account, mode FROM webhook_endpoints
          WHERE is_set AND is_paid AND due_at <= ${now} AND (lease IS NULL OR lease_until < now())
          ORDER BY due_at LIMIT ${most}
          FOR UPDATE SKIP LOCKED
        ) AS free
        WHERE e.account = free.account AND e.mode = free.mode
        RETURNING e.account, e.mode, e.generation`;
        return { held, tests: held.length === 0 ? [] : await tests(tx) };
      }),

    /** Makes all leases of this worker last longer; answers with those that no other worker has taken over. */
    renew: (): Promise<{ kept: Owner[]; tests: EndpointTest[] }> =>
      sql.begin(async (tx) => {
        const kept = await tx<Owner[]>`
          UPDATE webhook_endpoints AS e SET lease_until = ${until()} FROM ${mine()}
          WHERE e.account = mine.account AND e.mode = mine.mode
          RETURNING e.account, e.mode`;
        return { kept, tests: await tests(tx) };
      }),

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
    postpone: async (key: Owner, to: Date): Promise<void> => {
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
