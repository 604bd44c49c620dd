import { stat } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { withTimeout } from '../../src/lib/with-timeout.ts';
import { manualTimers } from '../support/timers.ts';
import { microtasks } from './microtasks.ts';

const never = new Promise<never>(() => {});
const fail = () => {
  throw new Error('too late');
};

describe('withTimeout', () => {
  test('given work that ends before the timeout, settles as the work does', async () => {
    const timers = manualTimers();
    expect(await withTimeout(Promise.resolve('done'), 100, fail, timers)).toBe('done');
    await expect(withTimeout(Promise.reject(new Error('broken')), 100, fail, timers)).rejects.toThrow('broken');
    expect(timers.waiting, 'no timer is left').toBe(0);
  });

  test('gives up after the timeout, and not before', async () => {
    const timers = manualTimers();
    let settled: string | undefined;
    const ended = withTimeout(never, 100, () => 'gave up', timers).then((result) => {
      settled = result;
    });
    timers.advance(99);
    await microtasks();
    expect(settled).toBeUndefined();
    timers.advance(1);
    await ended;
    expect(settled).toBe('gave up');
  });

  test('given work that never ends, resolves to what onTimeout returns', async () => {
    expect(await withTimeout(never, 1, () => 'gave up')).toBe('gave up');
  });

  test('given work that never ends, rejects with what onTimeout throws', async () => {
    await expect(withTimeout(never, 1, fail)).rejects.toThrow('too late');
  });

  test('given work that rejects after the timeout, leaves no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listener);
    const work = Promise.withResolvers<never>();
    await withTimeout(work.promise, 1, () => undefined);
    work.reject(new Error('much later'));
    // Unhandled rejections are reported at the end of a turn of the event loop, which this takes.
    await stat(import.meta.dirname);
    process.off('unhandledRejection', listener);
    expect(unhandled).toEqual([]);
  });
});
