import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../lib/logger.ts';

/** Resolves at the first SIGINT or SIGTERM. A second one means that somebody cannot wait. */
export function untilAskedToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const listen = (signal: NodeJS.Signals) => {
      if (asked) process.exit(130);
      asked = true;
      resolve(signal);
    };
    process.on('SIGINT', listen);
    process.on('SIGTERM', listen);
  });
}

/** Whole families wait for their members, which wait for requests under way and for the database. */
export const stopWithinMs = { member: 6_000, family: 10_000 };

/**
 * Stops, but does not wait for ever: servers that are gone can leave something waiting for an answer. What is cut off
 * then is what a crash would have cut off, and is taken up at the next start.
 */
export async function stopInTime(stop: () => Promise<void>, withinMs: number, log: Logger): Promise<void> {
  const isLate = await Promise.race([stop().then(() => false), sleep(withinMs, true, { ref: false })]);
  if (isLate) log.error({ after_ms: withinMs }, 'something does not stop, and is left behind');
}
