import { describe, expect, test } from 'vitest';
import { withTimeout } from '../../src/lib/with-timeout.ts';

const never = new Promise<never>(() => {});
const fail = () => {
  throw new Error('too late');
};

describe('withTimeout', () => {
  test('given work that ends before the timeout, settles as the work does', async () => {
    expect(await withTimeout(Promise.resolve('done'), 60_000, fail)).toBe('done');
    await expect(withTimeout(Promise.reject(new Error('broken')), 60_000, fail)).rejects.toThrow('broken');
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
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listener);
    expect(unhandled).toEqual([]);
  });
});
