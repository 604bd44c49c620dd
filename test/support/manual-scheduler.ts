import type { Scheduler } from '../../src/lib/scheduler.ts';

interface Timer {
  at: number;
  run(): void;
}

export interface ManualScheduler extends Scheduler {
  /** Moves the time and runs the timers that are due, in the order of their times. */
  advance(ms: number): void;
}

/** A scheduler whose time stands still until a test moves it. */
export function manualScheduler(): ManualScheduler {
  let nowMs = 0;
  const timers = new Set<Timer>();
  const nextUntil = (endMs: number) => [...timers].filter(({ at }) => at <= endMs).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => nowMs,
    after(ms, run) {
      const timer = { at: nowMs + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const endMs = nowMs + ms;
      for (let timer = nextUntil(endMs); timer !== undefined; timer = nextUntil(endMs)) {
        timers.delete(timer);
        nowMs = timer.at;
        timer.run();
      }
      nowMs = endMs;
    },
  };
}
