import { type DomainEvent, schemaOf } from '../../events/catalogue.ts';
import type { Actor, NewEvent, Pending, Recorded } from '../../events/recorded.ts';
import { newId } from '../lib/ids.ts';
import { type Transaction, violates } from './connect.ts';
import { locks } from './locks.ts';

/** Another writer appended an event with the same version: the caller must reload the stream and decide again. */
export class VersionTaken extends Error {
  constructor(stream: string) {
    super(`${stream} was changed at the same time by another request or command: read it and try again.`);
  }
}

/** Postgres answered an append without the positions of its events, so the append counts as failed. */
export class UnprovenEvents extends Error {
  constructor() {
    super('Postgres did not confirm that the events are appended');
  }
}

/** Adds id, actor and time to events; the append adds the position. */
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
 * Appends events, all or none, and gives each its position in the total order of the log.
 *
 * The lock is taken in the statement that draws the positions and held until the commit, so a reader that sees position n
 * also sees every lower position that will ever exist. All other appends wait for it: pipeline the remaining statements
 * of the transaction instead of awaiting each.
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

/** `prepare` and `appendPrepared` in one call. */
export const append = <E extends DomainEvent>(
  tx: Transaction,
  events: NewEvent<E>[],
  by: { actor: Actor; now: Date },
): Promise<Recorded<E>[]> => appendPrepared(tx, prepare(events, by));
