import { systemTimers, type Timers } from './timers.ts';

/**
 * Settles as `work` does or, when that takes longer than `timeoutMs`, as `onTimeout`: with what it returns, or with what
 * it throws. A rejection of `work` after the timeout is ignored.
 *
 * @example
 * const rows = await withTimeout(query, 2_000, () => { throw new Error('no response within 2 s'); });
 * const isStopped = await withTimeout(stop().then(() => true), 10_000, () => false);
 */
export async function withTimeout<T, F>(
  work: Promise<T>,
  timeoutMs: number,
  onTimeout: () => F,
  timers: Timers = systemTimers,
): Promise<T | F> {
  const timeout = Promise.withResolvers<F>();
  const cancel = timers.after(timeoutMs, () => {
    try {
      timeout.resolve(onTimeout());
    } catch (error) {
      timeout.reject(error);
    }
  });
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    cancel();
  }
}
