import type { Logger } from '../lib/logger.ts';
import { withTimeout } from '../lib/with-timeout.ts';

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once. `ended` ends the wait. */
export function untilStopSignal(ended?: AbortSignal): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let received = false;
    const listen = (signal: NodeJS.Signals) => {
      if (received) process.exit(130);
      received = true;
      resolve(signal);
    };
    process.on('SIGINT', listen);
    process.on('SIGTERM', listen);
    ended?.addEventListener('abort', () => process.off('SIGINT', listen).off('SIGTERM', listen));
  });
}

/** A supervisor waits for its children, which wait for open requests and for the database. */
export const stopTimeoutMs = { child: 6_000, supervisor: 10_000 };

/**
 * Stops, or gives up after `timeoutMs`: a request to a server that is gone may never be answered. What is cut off is what
 * a crash would have cut off, and the next start recovers it.
 */
export async function stopWithTimeout(stop: () => Promise<void>, timeoutMs: number, log: Logger): Promise<void> {
  await withTimeout(stop(), timeoutMs, () =>
    log.error(
      { after_ms: timeoutMs },
      'the service did not stop within the timeout and is ended; the next start recovers',
    ),
  );
}
