/** Resolves after a time, or rejects with the reason of the signal as soon as it is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });

const firstDelayMs = 500;
const maxDelayMs = 10_000;

/** The pause before a repeated attempt: doubled each time, and random, so that many clients do not return together. */
export const backoffMs = (attempt: number): number =>
  Math.min(maxDelayMs, firstDelayMs * 2 ** attempt) * (0.5 + Math.random() / 2);
