/** What `work` comes to, unless the signal comes first: then `close` is called, and this rejects with its reason. */
export async function beforeAbort<T>(signal: AbortSignal, work: Promise<T>, close = () => {}): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = () => {
    close();
    aborted.reject(signal.reason);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    // Whichever of the two comes second is nobody's.
    work.catch(() => {});
    aborted.promise.catch(() => {});
  }
}
