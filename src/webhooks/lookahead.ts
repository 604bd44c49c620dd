import { isScan, type LogEntry, type LogRange } from '../../events/entry.ts';
import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import { changesEndpoints } from '../../projections/webhook-endpoints.ts';
import { countEndpoints, maxDeliveries, partsOf } from '../../projections/webhook-parts.ts';
import { webhooks } from '../../projections/webhooks.ts';
import type { Sql } from '../lib/sql.ts';
import { readRange } from '../log/read.ts';

/** Entries that one step reads. */
const maxEntries = 5_000;

/**
 * Creates deliveries of other accounts while the projection works off one with many. The projection goes through the log in
 * order, and an account with 20 webhooks and 200 scans per second has more deliveries than Postgres stores in that time:
 * every account would wait for them.
 *
 * Each step reads on in the log, after the projection's checkpoint, and creates the deliveries of the accounts with the fewest.
 * Nothing of it is stored: after a restart the projection creates what is missing, since a delivery has the id of its entry.
 */
export class Lookahead {
  readonly #sql: Sql;
  /** The position up to which the log has been read. */
  #to = 0;
  /**
   * The positions after which accounts are left to the projection: once an entry is left, all later ones of the account are,
   * so that its deliveries are created in order.
   */
  readonly #left = new Map<string, number>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The next step, from this checkpoint on; returns the endpoints with new deliveries. */
  async advance(checkpoint: number, now: Date): Promise<EndpointKey[]> {
    if (this.#to <= checkpoint) {
      this.#to = checkpoint;
      this.#left.clear();
    }
    const range = await readRange(this.#sql, this.#to, maxEntries);
    const byAccount = await webhooks.byAccount(this.#sql, range.entries);
    const entries = (await this.#choose(byAccount)).sort((a, b) => a.position - b.position);
    const parts = entries.length === 0 ? [] : await partsOf(this.#sql, { ...range, entries });
    const endpoints: EndpointKey[] = [];
    // Nothing up to the end of the range changes these endpoints.
    for (const part of parts) endpoints.push(...(await webhooks.applyAhead(this.#sql, { ...part, to: range.to }, now)));
    this.#to = range.to;
    return endpoints;
  }

  /** A range without the scans whose deliveries exist. */
  remaining(range: LogRange): LogRange {
    return { ...range, entries: range.entries.filter((entry) => !this.#has(entry)) };
  }

  #has(entry: LogEntry): boolean {
    return isScan(entry) && entry.position <= Math.min(this.#to, this.#left.get(entry.account) ?? this.#to);
  }

  /**
   * Leaves accounts whose endpoints change, and the largest, so that the others have at most half of the deliveries or one transaction.
   * Returns the entries of the others.
   */
  async #choose(byAccount: ReadonlyMap<string, LogEntry[]>): Promise<LogEntry[]> {
    const webhooksOf = await countEndpoints(this.#sql, byAccount.keys());
    const sizes = [...byAccount].map(([account, entries]) => ({
      account,
      entries,
      deliveries: entries.length * (webhooksOf.get(account) ?? 0),
    }));
    const limit = Math.max(maxDeliveries, sizes.reduce((sum, { deliveries }) => sum + deliveries, 0) / 2);
    let taken = 0;
    for (const { account, entries, deliveries } of sizes.toSorted((a, b) => a.deliveries - b.deliveries)) {
      taken += deliveries;
      const isLeft = taken > limit || entries.some(changesEndpoints);
      if (isLeft && !this.#left.has(account)) this.#left.set(account, this.#to);
    }
    return sizes.flatMap(({ account, entries, deliveries }) =>
      deliveries === 0 || this.#left.has(account) ? [] : entries,
    );
  }
}
