import { type DomainEvent, schemaOf } from '../../events/catalogue.ts';
import type { Actor, NewEvent, Recorded } from '../../events/recorded.ts';
import { newId } from '../lib/ids.ts';
import { type Transaction, violates } from './connect.ts';
import { locks } from './locks.ts';

/** Somebody else's event took the version that this append was for. Load again and decide again. */
export class VersionTaken extends Error {}

/**
 * Appends events, all or none, and gives each its place in the one total order.
 *
 * The lock is taken in the statement that draws the positions, and held until the transaction has committed, so
 * whoever reads position n has seen everything below it that will ever be there. Keep what follows in the transaction
 * short: every other append waits for it.
 */
export async function append<E extends DomainEvent>(
  tx: Transaction,
  events: NewEvent<E>[],
  { actor, now }: { actor: Actor; now: Date },
): Promise<Recorded<E>[]> {
  const rows = events.map(({ stream, version, event }) => ({
    id: newId('evt', now.getTime()),
    stream,
    version,
    type: event.type,
    schema: schemaOf(event),
    data: event.data,
  }));
  const placed = await tx<{ id: string; position: number }[]>`
    WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(${locks.append})),
    given AS (
      SELECT e.* FROM locked, jsonb_to_recordset(${tx.json(rows)})
        AS e (id text, stream text, version int, type text, schema smallint, data jsonb)
    )
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    SELECT nextval('log_position'), id, stream, version, type, schema, data, ${actor}, ${now} FROM given
    RETURNING id, position
  `.catch((error) => {
    throw violates(error, 'events_stream_version') ? new VersionTaken(events[0]?.stream) : error;
  });
  const positions = new Map(placed.map(({ id, position }) => [id, position]));
  return events.map(({ stream, version, event }, i) => {
    const id = rows[i]?.id as string;
    return { ...event, position: positions.get(id) as number, id, stream, version, actor, occurred_at: now };
  });
}
