const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** The delay after each consecutive failure. */
const delaysMs = [5 * secondMs, 5 * minuteMs, 30 * minuteMs, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs)];
const jitter = 0.2;

/**
 * The delay after attempt number `tries`; undefined if it was the last. Has a jitter of ±20 %, so that deliveries which
 * failed together are not retried together. The receiver's `Retry-After` may extend it, up to twice the delay.
 */
export function retryDelayMs(tries: number, requestedMs = 0, random: () => number = Math.random): number | undefined {
  const delayMs = delaysMs[tries - 1];
  if (delayMs === undefined) return undefined;
  const withJitter = delayMs * (1 + jitter * (2 * random() - 1));
  return Math.round(Math.max(withJitter, Math.min(requestedMs, 2 * delayMs)));
}

/** Parses `Retry-After`, seconds or a date, as milliseconds from now; 0 if it is missing or invalid. */
export function retryAfterMs(header: string | null, now: Date): number {
  if (header === null) return 0;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * secondMs : Date.parse(text) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
