import type { LogEntry } from '../../events/entry.ts';
import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import { changesEndpoints } from '../../projections/webhook-endpoints.ts';
import { countEndpointsOf, maxDeliveries, partsOf } from '../../projections/webhook-parts.ts';
import { webhooks } from '../../projections/webhooks.ts';
import type { Sql } from '../lib/sql.ts';
import { readRange } from '../log/read.ts';

/** Entries that one step reads. */
const maxEntries = 5_000;
const minIntervalMs = 100;

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
  /** Accounts of which an entry up to there was left to the projection, and so are all later ones: they stay in order. */
  readonly #left = new Set<string>();
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The next step, at most every 100 ms; returns the endpoints with new deliveries. */
  async advance(checkpoint: number, now: Date): Promise<EndpointKey[]> {
    if (now.getTime() - this.#lastAt < minIntervalMs) return [];
    this.#lastAt = now.getTime();
    if (this.#to <= checkpoint) {
      this.#to = checkpoint;
      this.#left.clear();
    }
    const range = await readRange(this.#sql, this.#to, maxEntries);
    const byAccount = await webhooks.byAccount(this.#sql, range.entries);
    await this.#leaveLargest(byAccount);
    const chosen = [...byAccount].flatMap(([account, entries]) => (this.#left.has(account) ? [] : entries));
    const endpoints: EndpointKey[] = [];
    chosen.sort((a, b) => a.position - b.position);
    for (const { entries } of await partsOf(this.#sql, { ...range, entries: chosen }))
      if (entries.length > 0) endpoints.push(...(await webhooks.applyAhead(this.#sql, checkpoint, entries, now)));
    this.#to = range.to;
    return endpoints;
  }

  /** Leaves accounts whose endpoints change, and the largest, so that the others have at most half of the deliveries or one transaction. */
  async #leaveLargest(byAccount: ReadonlyMap<string, LogEntry[]>): Promise<void> {
    const webhooksOf = await countEndpointsOf(this.#sql, byAccount.keys());
    const sizes = [...byAccount].map(([account, entries]) => ({
      account,
      entries,
      deliveries: entries.length * (webhooksOf.get(account) ?? 0),
    }));
    const limit = Math.max(maxDeliveries, sizes.reduce((sum, { deliveries }) => sum + deliveries, 0) / 2);
    let taken = 0;
    for (const { account, entries, deliveries } of sizes.toSorted((a, b) => a.deliveries - b.deliveries)) {
      taken += deliveries;
      if (taken > limit || entries.some(changesEndpoints)) this.#left.add(account);
    }
  }
}
