/**
 * Settles like `work`. If the signal aborts first, calls `close` and rejects with the signal's reason.
 *
 * @example
 * const rows = await beforeAbort(request.signal, query, () => query.cancel());
 */
export async function beforeAbort<T>(signal: AbortSignal, work: Promise<T>, close = () => {}): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => {
    close();
    aborted.reject(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    // The one that settles second has no other handler, and an unhandled rejection would end the process.
    work.catch(() => {});
    aborted.promise.catch(() => {});
  }
}
