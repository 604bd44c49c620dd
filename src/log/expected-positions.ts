import type { StoredEvent } from '../../events/catalogue.ts';
import type { Pending, Recorded } from '../../events/recorded.ts';
import type { Queryable } from '../lib/sql.ts';

/**
 * Gives each event the position that it gets if nothing else is appended before it, and a higher one otherwise. Sorts codes
 * whose rows are written before the append. The creates of an account wait for each other, so the next one expects higher
 * positions than the previous one got: expected and actual positions give its codes the same order.
 */
export async function withExpectedPositions<E extends StoredEvent>(
  sql: Queryable,
  events: Pending<E>[],
): Promise<Recorded<E>[]> {
  const [{ last }] = await sql<[{ last: number }]>`SELECT last_value AS last FROM log_position`;
  return events.map((event, i) => ({ ...event, position: last + 1 + i }));
}
