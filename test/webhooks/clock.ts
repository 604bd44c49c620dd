import { vi } from 'vitest';

/** A clock that advances only when a test says so, so that no retry is due before. */
export function movableClock() {
  let now = Date.now();
  return {
    clock: () => new Date(now),
    forward: (ms: number) => {
      now += ms;
    },
    /** Calls `work` while `Date.now` returns the time of this clock, for code that compares it with a timestamp. */
    at: <T>(work: () => T): T => {
      const spy = vi.spyOn(Date, 'now').mockReturnValue(now);
      try {
        return work();
      } finally {
        spy.mockRestore();
      }
    },
    /** Advances to 1 ms after `time`. */
    to: (time: string) => {
      now = Math.max(now, Date.parse(time) + 1);
    },
  };
}

export type MovableClock = ReturnType<typeof movableClock>;
