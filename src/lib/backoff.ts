interface BackoffOptions {
  firstMs: number;
  maxMs: number;
  /** What ran for longer than this before it failed begins again with `firstMs`. */
  resetAfterMs: number;
}

export interface Backoff {
  /** The pause before the next attempt, after one that ran for `ranMs`: twice the one before, up to `maxMs`. */
  nextMs(ranMs: number): number;
}

/**
 * How long to wait before something that failed is tried again.
 *
 * @example
 * const restarts = backoff({ firstMs: 200, maxMs: 10_000, resetAfterMs: 30_000 });
 * setTimeout(restart, restarts.nextMs(uptimeMs));
 */
export function backoff({ firstMs, maxMs, resetAfterMs }: BackoffOptions): Backoff {
  let upcomingMs = firstMs;
  return {
    nextMs(ranMs) {
      const pauseMs = ranMs > resetAfterMs ? firstMs : upcomingMs;
      upcomingMs = Math.min(pauseMs * 2, maxMs);
      return pauseMs;
    },
  };
}
