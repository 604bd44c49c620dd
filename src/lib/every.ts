import { systemTimers, type Timers } from './timers.ts';

export interface Loop {
  /** Runs the task now; if it is running, once more after that run. */
  wake(): void;
  /** Stops the loop; resolves when the current run has ended. */
  stop(): Promise<void>;
}

interface LoopOptions {
  /** Called when a run fails; the next run follows after the interval. */
  onError(error: unknown): void;
  /** Whether the first run, too, waits for the interval. Default: false. */
  waitFirst?: boolean;
  /** Whether the loop keeps the process alive. Default: true. */
  ref?: boolean;
  timers?: Timers;
}

/**
 * Runs a task until stopped, with a pause of `intervalMs` after each run, so that runs never overlap. A run that resolves
 * to a number pauses for that many milliseconds instead. The task's signal aborts with `stop`.
 *
 * @example
 * const loop = every(60_000, () => sweep(sql), { onError: (error) => log.warn({ error }, 'sweep failed') });
 */
export function every(
  intervalMs: number,
  task: (signal: AbortSignal) => Promise<number> | Promise<void>,
  { onError, waitFirst = false, ref = true, timers = systemTimers }: LoopOptions,
): Loop {
  const stopping = new AbortController();
  const { signal } = stopping;
  let pause = new AbortController();

  async function wait(ms: number): Promise<void> {
    // After a wake during the run, the signal is aborted already, and this does not wait.
    await timers.sleep(ms, { signal: pause.signal, ref });
    pause = new AbortController();
  }

  async function loop(): Promise<void> {
    if (waitFirst) await wait(intervalMs);
    while (!signal.aborted) {
      let pauseMs = intervalMs;
      try {
        pauseMs = (await task(signal)) ?? intervalMs;
      } catch (error) {
        onError(error);
      }
      if (!signal.aborted) await wait(pauseMs);
    }
  }

  const running = loop();
  return {
    wake: () => pause.abort(),
    async stop() {
      stopping.abort();
      pause.abort();
      await running;
    },
  };
}
