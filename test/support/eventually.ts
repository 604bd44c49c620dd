import { setTimeout as sleep } from 'node:timers/promises';
import { conditionTimeoutMs } from './limits.ts';

/** The condition can no longer hold, so waiting for it is pointless. */
export class Unreachable extends Error {}

const firstPauseMs = 10;
/** The API may be read 300 times a minute. */
const maxPauseMs = 250;

/** Repeats `check` until it does not throw. After `conditionTimeoutMs`, or for `Unreachable`, throws its last error. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + conditionTimeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.3, maxPauseMs)) {
    try {
      return await check();
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      if (performance.now() > deadline) throw afterDeadline(error);
    }
    await sleep(pauseMs);
  }
}

function afterDeadline(error: unknown): unknown {
  if (error instanceof Error) error.message = `After ${conditionTimeoutMs / 1000} s: ${error.message}`;
  return error;
}

/**
 * Waits until `count` returns `expected`, and fails at once when it returns more.
 *
 * @example
 * await reaches(16, () => receiver.requests.length);
 */
export async function reaches(expected: number, count: () => number | Promise<number>): Promise<void> {
  await eventually(async () => {
    const found = await count();
    if (found > expected) throw new Unreachable(`expected ${expected}, but there are ${found} already`);
    if (found < expected) throw new Error(`expected ${expected}, but there are only ${found}`);
  });
}
