import { erasedSchema, type StoredEvent, schemaOf } from '../../events/catalogue.ts';
import type { Actor, NewEvent, Pending, Recorded } from '../../events/recorded.ts';
import { appendLockHolds } from '../lib/append-lock-holds.ts';
import { newId } from '../lib/ids.ts';
import type { Transaction } from '../lib/sql.ts';
import { violates } from './connect.ts';
import { locks } from './locks.ts';
import { VersionTaken } from './version-taken.ts';

/** Postgres answered an append without the positions of its events, so the append counts as failed. */
export class UnprovenEvents extends Error {
  constructor() {
    super('Postgres did not confirm that the events are appended');
  }
}

/** Adds id, actor and time to events; the append adds the position. */
export const prepare = <E extends StoredEvent>(
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
 * also sees every lower position that will ever exist. All other appends wait for it, so a transaction does everything else
 * before: row locks that are taken first, and this one last, cannot deadlock. Everything but a command that runs while no
 * service does uses `appendAndCommit`.
 */
export async function append<E extends StoredEvent>(
  tx: Transaction,
  events: NewEvent<E>[],
  by: { actor: Actor; now: Date },
): Promise<Recorded<E>[]> {
  const pending = prepare(events, by);
  await give(tx, pending);
  return recordedAt(pending, await insertGiven(tx, pending));
}

/**
 * Appends events and commits the transaction, of which this must be the last step. `underLock` sends statements that must
 * see everything that precedes the events in the log. From the statement that takes the lock on, all is sent without waiting
 * for a response, so that the time for which the lock is held does not depend on this process.
 */
export async function appendAndCommit<E extends StoredEvent>(
  tx: Transaction,
  events: Pending<E>[],
  underLock: (tx: Transaction) => Promise<unknown>[] = () => [],
): Promise<Recorded<E>[]> {
  await give(tx, events);
  const inserted = insertGiven(tx, events);
  const under = underLock(tx);
  // A new transaction begins, for the COMMIT that follows the callback of `sql.begin`.
  const committed = tx.unsafe('COMMIT AND CHAIN');
  const clock = tx<[{ now: number }]>`SELECT extract(epoch FROM clock_timestamp())::float8 AS now`;
  // Queries are sent when they are awaited, so in this order. The first error is the cause of those after it.
  await Promise.allSettled([inserted, ...under, committed, clock]);
  const placed = await inserted;
  await Promise.all(under);
  if ((await committed).command !== 'COMMIT') throw new UnprovenEvents();
  const [{ now }] = await clock;
  const [first] = placed;
  if (first !== undefined) appendLockHolds.observe(now - first.locked_at);
  return recordedAt(events, placed);
}

interface Placed {
  id: string;
  position: number;
  /** When the lock was granted, by the clock of Postgres, in seconds. */
  locked_at: number;
}

const rowsOf = <E extends StoredEvent>(events: Pending<E>[]) =>
  events.map((event) => {
    const { id, stream, version, actor, occurred_at } = event;
    return { id, stream, version, actor, occurred_at: occurred_at.toISOString(), ...contentOf(event) };
  });

const contentOf = (event: StoredEvent) =>
  event.type === 'erased'
    ? { type: event.data.type, schema: erasedSchema, data: {} }
    : { type: event.type, schema: schemaOf(event), data: event.data };

/**
 * Sends events to Postgres, before the lock is taken. Must be awaited: after a long message, and after one that is not prepared
 * yet, the driver sends each query only with the response to the one before it.
 */
async function give<E extends StoredEvent>(tx: Transaction, events: Pending<E>[]): Promise<void> {
  await tx`SELECT set_config('scanlog.events', ${JSON.stringify(rowsOf(events))}, true)`;
}

/** Appends the events that were sent last. */
const insertGiven = <E extends StoredEvent>(tx: Transaction, events: Pending<E>[]): Promise<Placed[]> =>
  tx.unsafe<Placed[]>(insertion).catch((error) => {
    throw violates(error, 'events_stream_version') ? new VersionTaken(events[0]?.stream ?? '') : error;
  });

const insertion = `
  WITH given AS MATERIALIZED (
    SELECT e.* FROM jsonb_to_recordset(current_setting('scanlog.events')::jsonb)
      AS e (id text, stream text, version int, type text, schema smallint, data jsonb, actor text,
        occurred_at timestamptz)
  ),
  locked AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(${locks.append}), extract(epoch FROM clock_timestamp())::float8 AS locked_at
    FROM (SELECT count(*) FROM given) AS parsed
  ),
  placed AS (
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    SELECT nextval('log_position'), id, stream, version, type, schema, data, actor, occurred_at FROM locked, given
    RETURNING id, position
  )
  SELECT id, position, locked_at FROM placed, locked`;

function recordedAt<E extends StoredEvent>(events: Pending<E>[], placed: Placed[]): Recorded<E>[] {
  const positions = new Map(placed.map(({ id, position }) => [id, position]));
  return events.map((event) => {
    const position = positions.get(event.id);
    if (position === undefined) throw new UnprovenEvents();
    return { ...event, position };
  });
}
