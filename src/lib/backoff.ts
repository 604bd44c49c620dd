interface BackoffOptions {
  firstMs: number;
  maxMs: number;
  /** After an attempt that ran for longer than this, the pauses begin with `firstMs` again. */
  resetAfterMs: number;
}

export interface Backoff {
  /** The pause after an attempt that ran for `ranMs`: twice the previous pause, up to `maxMs`. */
  nextMs(ranMs: number): number;
}

/**
 * Exponential backoff: computes the pause before a failed attempt is retried.
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
