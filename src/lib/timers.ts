import { setTimeout as sleep } from 'node:timers/promises';

/** Monotonic time and delayed work, passed in so that tests can move both by hand. */
export interface Timers {
  /** Milliseconds since an arbitrary moment; never goes back. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts. */
  sleep(ms: number, options?: { signal?: AbortSignal; ref?: boolean }): Promise<void>;
  /** Calls `run` after `ms`, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  sleep: (ms, options = {}) => sleep(ms, undefined, options).catch(() => {}),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
