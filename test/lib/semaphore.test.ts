import { describe, expect, test } from 'vitest';
import { QueueFull, Semaphore, SemaphorePerKey } from '../../src/lib/semaphore.ts';
import { microtasks } from './microtasks.ts';

describe('a semaphore', () => {
  test('admits as many callers as it has permits, and the others in order as permits are released', async () => {
    const semaphore = new Semaphore(2);
    const entered: number[] = [];
    const releases = [1, 2, 3, 4].map(async (n) => {
      const release = await semaphore.acquire();
      entered.push(n);
      return release;
    });
    await microtasks();
    expect(entered).toEqual([1, 2]);
    (await releases[1])?.();
    await microtasks();
    expect(entered).toEqual([1, 2, 3]);
    (await releases[0])?.();
    (await releases[2])?.();
    await microtasks();
    expect(entered).toEqual([1, 2, 3, 4]);
  });

  test('a new caller does not overtake a waiting one when a permit is released', async () => {
    const semaphore = new Semaphore(1);
    const entered: string[] = [];
    const release = await semaphore.acquire();
    const first = semaphore.acquire().then((done) => {
      entered.push('first');
      done();
    });
    release();
    await Promise.all([first, semaphore.run(async () => entered.push('second'))]);
    expect(entered).toEqual(['first', 'second']);
  });

  test('rejects a caller if maxWaiting callers are waiting', async () => {
    const semaphore = new Semaphore(1, 1);
    const release = await semaphore.acquire();
    const waiting = semaphore.acquire();
    await expect(semaphore.acquire()).rejects.toBeInstanceOf(QueueFull);
    release();
    (await waiting)();
    expect(await semaphore.run(async () => 'in')).toBe('in');
  });

  test('releases the permit if the work fails', async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await semaphore.run(async () => 'next')).toBe('next');
  });

  test('rejects a caller whose signal aborts, and keeps the order of the others', async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    const abort = new AbortController();
    const gone = semaphore.acquire(abort.signal);
    const next = semaphore.acquire(new AbortController().signal);
    abort.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    await expect(semaphore.acquire(abort.signal)).rejects.toThrow('gone');
    release();
    (await next)();
    expect(await semaphore.run(async () => 'free again')).toBe('free again');
  });
});

test('a semaphore per key admits callers of each key by themselves', async () => {
  const semaphores = new SemaphorePerKey(1, 1);
  const held = Promise.withResolvers<void>();
  const entered: string[] = [];
  const enter = (key: string, name: string) =>
    semaphores.run(key, async () => {
      entered.push(name);
      if (key === 'a') await held.promise;
    });
  const first = [enter('a', 'a1'), enter('a', 'a2')];
  await enter('b', 'b1');
  expect(entered).toEqual(['a1', 'b1']);
  await expect(enter('a', 'a3')).rejects.toThrow(QueueFull);
  held.resolve();
  await Promise.all(first);
  await enter('a', 'a4');
  expect(entered).toEqual(['a1', 'b1', 'a2', 'a4']);
});
