const s = 1_000;
const min = 60 * s;
const h = 60 * min;

/** How long to wait after each failure in a row. */
const steps = [5 * s, 5 * min, 30 * min, 2 * h, 5 * h, 10 * h, 14 * h, 20 * h, 24 * h];
const spread = 0.2;

/**
 * How long to wait after the attempt number `tries`; nothing when it was the last. Spread a little, so that those who
 * failed together do not come again together. A receiver may ask for more patience, up to twice the step.
 */
export function waitAfter(tries: number, askedMs = 0, random: () => number = Math.random): number | undefined {
  const step = steps[tries - 1];
  if (step === undefined) return undefined;
  const own = step * (1 + spread * (2 * random() - 1));
  return Math.round(Math.max(own, Math.min(askedMs, 2 * step)));
}

/** `Retry-After`, which is a number of seconds or a date, in milliseconds from now; 0 where it says nothing. */
export function askedPatience(header: string | null, now: Date): number {
  if (header === null) return 0;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * s : Date.parse(text) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
