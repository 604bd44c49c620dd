import type { LogEntry } from '../../events/entry.ts';

/**
 * Several processes on one port are one service to whoever uses it: after the answer to a change, none of them may serve
 * the old state. So the one that took the change waits until the others have heard of it.
 */

export type SiblingMessage =
  | { kind: 'changed'; id: number; entries: LogEntry[] }
  | { kind: 'heard'; id: number }
  | { kind: 'stop' };

/** A sibling that does not answer by then is not waited for: it may have just died. */
const withinMs = 300;

export interface Sibling {
  send(message: SiblingMessage): void;
}

export interface Telling {
  /** Resolves when all others have heard it. */
  tell(entries: LogEntry[], others: Iterable<Sibling>): Promise<void>;
  heard(id: number): void;
}

export function createTelling(): Telling {
  let last = 0;
  const open = new Map<number, () => void>();
  return {
    async tell(entries, others) {
      await Promise.all(
        [...others].map(
          (sibling) =>
            new Promise<void>((resolve) => {
              const id = ++last;
              const done = () => {
                clearTimeout(timer);
                open.delete(id);
                resolve();
              };
              const timer = setTimeout(done, withinMs);
              open.set(id, done);
              try {
                sibling.send({ kind: 'changed', id, entries });
              } catch {
                // It has just died, and will read everything anew.
                done();
              }
            }),
        ),
      );
    },
    heard: (id) => open.get(id)?.(),
  };
}

/** Messages between processes carry times as text. */
export const revived = (entries: LogEntry[]): LogEntry[] =>
  entries.map((entry) => ({ ...entry, occurred_at: new Date(entry.occurred_at) }));
