import type { ChangeEvent } from '../../events/catalogue.ts';
import type { Actor, Pending, Recorded } from '../../events/recorded.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from './append.ts';
import { isDeadlock } from './connect.ts';
import { VersionTaken } from './version-taken.ts';

/** A change of one stream. `P` is the state that `project` wrote and returns. */
interface Command<S extends { version: number }, E extends ChangeEvent, P> {
  load(): Promise<S>;
  decide(state: S): E[];
  /** Writes current state in the same transaction, before the append lock is taken. */
  project(tx: Transaction, state: S, events: Pending<E>[]): Promise<P>;
  /** Sends what must be done under the append lock; see `appendAndCommit`. */
  underLock?(tx: Transaction, projected: P): Promise<unknown>[];
  by: { actor: Actor; now: Date };
}

interface Decided<S, E, P> {
  /** The state that `decide` received. */
  state: S;
  recorded: Recorded<E>[];
  /** What `project` returned; undefined when there was nothing to append. */
  projected: P | undefined;
}

const maxAttempts = 2;

/**
 * Loads, decides and appends to one stream. After a lost race it loads and decides once more; a second lost race throws
 * `VersionTaken`.
 */
export async function decideAndAppend<S extends { version: number }, E extends ChangeEvent, P = unknown>(
  sql: Sql,
  stream: string,
  command: Command<S, E, P>,
): Promise<Decided<S, E, P>> {
  return retryLostRace(() => attemptOnce(sql, stream, command));
}

/**
 * Calls `attempt` once more after a lost race; a second one throws `VersionTaken`. So does a deadlock: a process of an earlier
 * version, which may run during an upgrade, takes the append lock before the locks of rows.
 */
export async function retryLostRace<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof VersionTaken || isDeadlock(error)) || count === maxAttempts) throw error;
    }
  }
}

async function attemptOnce<S extends { version: number }, E extends ChangeEvent, P>(
  sql: Sql,
  stream: string,
  { load, decide, project, underLock, by }: Command<S, E, P>,
): Promise<Decided<S, E, P>> {
  const state = await load();
  const events = decide(state).map((event, i) => ({ stream, version: state.version + 1 + i, event }));
  if (events.length === 0) return { state, recorded: [], projected: undefined };
  const pending = prepare(events, by);
  return sql.begin(async (tx) => {
    const projected = await project(tx, state, pending);
    const recorded = await appendAndCommit(tx, pending, () => underLock?.(tx, projected) ?? []);
    return { state, recorded, projected };
  });
}
