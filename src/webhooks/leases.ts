import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import type { Queryable, Sql } from '../lib/sql.ts';

/** An endpoint whose lease this worker has: until it expires, no other worker sends to it. */
export interface LeasedEndpoint extends EndpointKey {
  generation: number;
  /** Whether a replay may have deliveries that wait. */
  replaying: boolean;
}

/** An example event that waits for a slot or has one. */
export interface EndpointTest extends EndpointKey {
  id: string;
  granted: boolean;
}

/**
 * Leases on endpoints. One worker at a time sends to an endpoint, so the limit on requests in flight holds across all
 * instances, and no delivery is sent twice at once. If a worker dies, deliveries without a recorded outcome are still
 * pending when its lease expires. Leases use the database's clock, which all workers share.
 */
export class Leases {
  readonly #sql: Sql;
  readonly #holder: string;
  readonly #leaseMs: number;

  constructor(sql: Sql, holder: string, leaseMs: number) {
    this.#sql = sql;
    this.#holder = holder;
    this.#leaseMs = leaseMs;
  }

  /** Example events of this worker's endpoints, without expired ones, whose process died. */
  tests(on: Queryable = this.#sql): Promise<EndpointTest[]> {
    return on<EndpointTest[]>`
      SELECT t.id, t.account, t.webhook, t.granted
      FROM endpoint_tests t JOIN endpoints e USING (account, webhook)
      WHERE e.lease = ${this.#holder} AND t.until > now()`;
  }

  /** Grants a slot to these example events, unless another worker has taken over the lease. */
  async grantTests(ids: string[]): Promise<void> {
    await this.#sql`
      UPDATE endpoint_tests AS t SET granted = true FROM endpoints AS e
      WHERE t.id = ANY(${ids}) AND e.account = t.account AND e.webhook = t.webhook AND e.lease = ${this.#holder}`;
  }

  /**
   * Takes up to `limit` endpoints with due deliveries, those due the longest first. The cost does not depend on their
   * backlog, because each endpoint has one row. Reads the example events in the same transaction (test-slots.ts), which
   * begins only if an endpoint is free: an idle worker comes here every second.
   */
  async claim(now: Date, limit: number): Promise<{ claimed: LeasedEndpoint[]; tests: EndpointTest[] }> {
    const free = await this.#sql`SELECT 1 FROM endpoints WHERE ${this.#isFree(now)} LIMIT 1`;
    if (free.length === 0) return { claimed: [], tests: [] };
    return this.#sql.begin(async (tx) => {
      const claimed = await tx<LeasedEndpoint[]>`
        UPDATE endpoints AS e SET lease = ${this.#holder}, lease_until = ${this.#until()}
        FROM (
          SELECT account, webhook FROM endpoints
          WHERE ${this.#isFree(now)}
          ORDER BY due_at LIMIT ${limit}
          FOR UPDATE SKIP LOCKED
        ) AS free
        WHERE e.account = free.account AND e.webhook = free.webhook
        RETURNING e.account, e.webhook, e.generation, e.replaying`;
      return { claimed, tests: claimed.length === 0 ? [] : await this.tests(tx) };
    });
  }

  /** Extends the leases of this worker; returns those that no other worker has taken over and no suspension has ended. */
  renew(): Promise<{ kept: LeasedEndpoint[]; tests: EndpointTest[] }> {
    return this.#sql.begin(async (tx) => {
      const kept = await tx<LeasedEndpoint[]>`
        UPDATE endpoints AS e SET lease_until = ${this.#until()} FROM ${this.#mine()}
        WHERE e.account = mine.account AND e.webhook = mine.webhook AND ${this.#isServed('e.account')}
        RETURNING e.account, e.webhook, e.generation, e.replaying`;
      return { kept, tests: await this.tests(tx) };
    });
  }

  /**
   * Releases an endpoint and sets when it is due next; returns undefined if it did. Without `yielding`, the worker keeps an
   * endpoint that has more due deliveries, and gets its state. With it, the endpoint is queued after those that are due
   * already.
   */
  release(key: LeasedEndpoint, now: Date, yielding: boolean): Promise<Pick<LeasedEndpoint, 'replaying'> | undefined> {
    return this.#sql.begin(async (tx) => {
      // Locks before it reads: a delivery that is added in between would otherwise be missed.
      const [row] = await tx<Pick<LeasedEndpoint, 'generation' | 'replaying'>[]>`
        SELECT generation, replaying FROM endpoints
        WHERE account = ${key.account} AND webhook = ${key.webhook} AND lease = ${this.#holder}
        FOR UPDATE`;
      if (row === undefined) return undefined;
      const firstDue = async (isWanted: ReturnType<Queryable>) => {
        const [{ due_at }] = await tx<[{ due_at: Date | null }]>`
          SELECT min(due_at) AS due_at FROM deliveries
          WHERE account = ${key.account} AND webhook = ${key.webhook} AND status = 'pending'
            AND generation = ${row.generation} AND ${isWanted}`;
        return due_at;
      };
      const live = await firstDue(tx`NOT low_priority`);
      const replayed = row.replaying ? await firstDue(tx`low_priority`) : null;
      const due_at = live === null || (replayed !== null && replayed < live) ? replayed : live;
      const hasMore = due_at !== null && due_at <= now;
      if (hasMore && !yielding && row.generation === key.generation) return row;
      await tx`
        UPDATE endpoints SET lease = NULL, lease_until = NULL, due_at = ${hasMore ? now : due_at}
        WHERE account = ${key.account} AND webhook = ${key.webhook}`;
      return undefined;
    });
  }

  /** Releases an endpoint that cannot be served now, and makes it due at `to`. */
  async postpone(key: EndpointKey, to: Date): Promise<void> {
    await this.#sql`
      UPDATE endpoints SET lease = NULL, lease_until = NULL, due_at = ${to}
      WHERE account = ${key.account} AND webhook = ${key.webhook} AND lease = ${this.#holder}`;
  }

  /** Releases all endpoints of this worker when it stops. */
  async releaseAll(): Promise<void> {
    await this.#sql`
      UPDATE endpoints AS e SET lease = NULL, lease_until = NULL FROM ${this.#mine()}
      WHERE e.account = mine.account AND e.webhook = mine.webhook`;
  }

  #isFree(now: Date) {
    return this.#sql`
      is_set AND is_paid AND due_at <= ${now} AND (lease IS NULL OR lease_until < now()) AND ${this.#isServed('account')}`;
  }

  /** Deliveries of a suspended account wait until it is resumed. */
  #isServed(column: 'account' | 'e.account') {
    return this.#sql`${this.#sql(column)} NOT IN (SELECT id FROM accounts WHERE suspended_at IS NOT NULL)`;
  }

  #until() {
    return this.#sql`now() + ${this.#leaseMs / 1000} * interval '1 second'`;
  }

  /** Locks in the order that all transactions use: another order could deadlock. */
  #mine() {
    return this.#sql`
      (SELECT account, webhook FROM endpoints WHERE lease = ${this.#holder} ORDER BY account, webhook FOR UPDATE) AS mine`;
  }
}
