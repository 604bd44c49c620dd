/**
 * Settles as `work` does or, when that takes longer than `timeoutMs`, as `onTimeout`: with what it returns, or with what
 * it throws. A rejection of `work` after the timeout is ignored.
 *
 * @example
 * const rows = await withTimeout(query, 2_000, () => { throw new Error('no answer within 2 s'); });
 * const isStopped = await withTimeout(stop().then(() => true), 10_000, () => false);
 */
export async function withTimeout<T, F>(work: Promise<T>, timeoutMs: number, onTimeout: () => F): Promise<T | F> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<F>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(onTimeout());
      } catch (error) {
        reject(error);
      }
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
