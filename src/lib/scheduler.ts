/** Monotonic time and timers, passed in so that tests can move them by hand. */
export interface Scheduler {
  /** Milliseconds since an arbitrary moment; never goes back. */
  now(): number;
  /** Calls `run` once after `ms`. Returns the function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** The timers of this process. They do not keep it alive. */
export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
