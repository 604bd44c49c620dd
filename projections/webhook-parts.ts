import { isScan, type LogEntry, type LogRange } from '../events/entry.ts';
import { maxWebhooks } from '../events/webhooks/webhook.ts';
import type { Sql } from '../src/lib/sql.ts';

/**
 * Deliveries that one transaction creates, within about 40 ms. It locks the endpoints of every account that has an entry in its
 * range, and meanwhile nothing is sent to them: beside an account with many webhooks and scans, all others would wait for seconds.
 */
export const maxDeliveries = 1_000;

/** With the one of `/v1/account/webhook`. */
const maxEndpoints = maxWebhooks + 1;

/** Divides a range of the log into parts, each of which one transaction applies. */
export async function partsOf(sql: Sql, range: LogRange): Promise<LogRange[]> {
  if (range.entries.length * maxEndpoints <= maxDeliveries) return [range];
  const endpoints = await countEndpoints(sql, new Set(range.entries.filter(isScan).map(({ account }) => account)));
  // A change does not name its account.
  const deliveriesOf = (entry: LogEntry) => (isScan(entry) ? (endpoints.get(entry.account) ?? 0) : maxEndpoints);
  const parts: LogRange[] = [];
  let [after, from, deliveries] = [range.after, 0, 0];
  for (const [i, entry] of range.entries.entries()) {
    deliveries += deliveriesOf(entry);
    const previous = range.entries[i - 1];
    if (deliveries <= maxDeliveries || previous === undefined) continue;
    parts.push({ after, to: previous.position, entries: range.entries.slice(from, i) });
    [after, from, deliveries] = [previous.position, i, deliveriesOf(entry)];
  }
  return [...parts, { after, to: range.to, entries: range.entries.slice(from) }];
}

/** The number of enabled webhooks of each account; an account without one is missing. */
export async function countEndpoints(sql: Sql, accounts: Iterable<string>): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ account: string; count: number }[]>`
    SELECT account, count(*) FROM endpoints WHERE account = ANY(${[...accounts]}) AND is_set AND is_paid GROUP BY account`;
  return new Map(rows.map(({ account, count }) => [account, count]));
}
