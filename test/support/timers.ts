import type { Timers } from '../../src/lib/timers.ts';
import { eventually } from './eventually.ts';

interface Due {
  at: number;
  run(): void;
}

export interface ManualTimers extends Timers {
  /** How many calls and sleeps are waiting. */
  readonly waiting: number;
  /** Moves the time by `ms`, and runs what is due in order of time. */
  advance(ms: number): void;
  /** Waits until the tested code waits for at least one timer, then moves the time to the next one and runs it. */
  next(): Promise<void>;
}

/** Time that passes only when a test says so. */
export function manualTimers(): ManualTimers {
  let now = 0;
  const due = new Set<Due>();
  const earliest = () =>
    [...due].reduce<Due | undefined>((a, b) => (a === undefined || b.at < a.at ? b : a), undefined);

  function after(ms: number, run: () => void): () => void {
    const entry = { at: now + ms, run };
    due.add(entry);
    return () => due.delete(entry);
  }

  function runUntil(end: number): void {
    for (let first = earliest(); first !== undefined && first.at <= end; first = earliest()) {
      now = Math.max(now, first.at);
      due.delete(first);
      first.run();
    }
    now = Math.max(now, end);
  }

  return {
    now: () => now,
    after,
    sleep: (ms, { signal } = {}) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const cancel = after(ms, resolve);
        signal?.addEventListener('abort', () => {
          cancel();
          resolve();
        });
      }),
    get waiting() {
      return due.size;
    },
    advance: (ms) => runUntil(now + ms),
    async next() {
      const first = await eventually(() => {
        const found = earliest();
        if (found === undefined) throw new Error('nothing waits for a timer');
        return found;
      });
      runUntil(first.at);
    },
  };
}
