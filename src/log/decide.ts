import type { ChangeEvent } from '../../events/catalogue.ts';
import type { Actor, Pending, Recorded } from '../../events/recorded.ts';
import { Refusal } from '../lib/errors.ts';
import { appendPrepared, prepare, VersionTaken } from './append.ts';
import type { Sql, Transaction } from './connect.ts';

interface Steps<S, E extends ChangeEvent> {
  load(): Promise<S>;
  decide(state: S): E[];
  /** Writes current state in the same transaction; sent along with the append, since the log's lock is held then. */
  project(tx: Transaction, state: S, events: Pending<E>[]): Promise<void>;
  by: { actor: Actor; now: Date };
}

/**
 * Loads, decides and appends to one stream, and answers with the state decided on and what was appended to it.
 * A lost race is decided once more on the new state, then given up with a 409.
 */
export async function decideAndAppend<S extends { version: number }, E extends ChangeEvent>(
  sql: Sql,
  stream: string,
  steps: Steps<S, E>,
  tries = 2,
): Promise<{ state: S; recorded: Recorded<E>[] }> {
  const state = await steps.load();
  const events = steps.decide(state).map((event, i) => ({ stream, version: state.version + 1 + i, event }));
  if (events.length === 0) return { state, recorded: [] };
  const pending = prepare(events, steps.by);
  try {
    return await sql.begin(async (tx) => {
      const [recorded] = await Promise.all([appendPrepared(tx, pending), steps.project(tx, state, pending)]);
      return { state, recorded };
    });
  } catch (error) {
    if (!(error instanceof VersionTaken)) throw error;
    if (tries > 1) return decideAndAppend(sql, stream, steps, tries - 1);
    throw new Refusal('conflict', 'Others changed the same thing at the same moment; read it and try again.');
  }
}
