import { type DomainEvent, schemaOf } from '../../events/catalogue.ts';
import type { Actor, NewEvent, Pending, Recorded } from '../../events/recorded.ts';
import { newId } from '../lib/ids.ts';
import { type Transaction, violates } from './connect.ts';
import { locks } from './locks.ts';

/** Another writer's event took the version that this append was for. Load again and decide again. */
export class VersionTaken extends Error {
  constructor(stream: string) {
    super(`${stream} was changed at the same time by another request or command: read it and try again.`);
  }
}

/** Postgres answered an append without the positions of its events: it counts as not done. */
export class UnprovenEvents extends Error {
  constructor() {
    super('the answer of Postgres does not prove that the events are appended');
  }
}

/** Gives events all that they need but a position. */
export const prepare = <E extends DomainEvent>(
  events: NewEvent<E>[],
  { actor, now }: { actor: Actor; now: Date },
): Pending<E>[] =>
  events.map(({ stream, version, event }) => ({
    ...event,
    id: newId('evt', now.getTime()),
    stream,
    version,
    actor,
    occurred_at: now,
  }));

/**
 * Appends events, all or none, and gives each its place in the one total order.
 *
 * The lock is taken in the statement that draws the positions, and held until the transaction has committed, so a reader
 * of position n has seen everything below it that will ever be there. Every other append waits meanwhile: send what
 * follows in the transaction without waiting for answers in between.
 */
export async function appendPrepared<E extends DomainEvent>(
  tx: Transaction,
  events: Pending<E>[],
): Promise<Recorded<E>[]> {
  const rows = events.map((event) => {
    const { id, stream, version, type, data, actor, occurred_at } = event;
    return { id, stream, version, type, schema: schemaOf(event), data, actor, occurred_at: occurred_at.toISOString() };
  });
  const placed = await tx<{ id: string; position: number }[]>`
    WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(${locks.append})),
    given AS (
      SELECT e.* FROM locked, jsonb_to_recordset(${tx.json(rows)})
        AS e (id text, stream text, version int, type text, schema smallint, data jsonb, actor text,
          occurred_at timestamptz)
    )
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    SELECT nextval('log_position'), id, stream, version, type, schema, data, actor, occurred_at FROM given
    RETURNING id, position
  `.catch((error) => {
    throw violates(error, 'events_stream_version') ? new VersionTaken(events[0]?.stream ?? '') : error;
  });
  const positions = new Map(placed.map(({ id, position }) => [id, position]));
  return events.map((event) => {
    const position = positions.get(event.id);
    if (position === undefined) throw new UnprovenEvents();
    return { ...event, position };
  });
}

/** The same for events that are not prepared yet. */
export const append = <E extends DomainEvent>(
  tx: Transaction,
  events: NewEvent<E>[],
  by: { actor: Actor; now: Date },
): Promise<Recorded<E>[]> => appendPrepared(tx, prepare(events, by));
