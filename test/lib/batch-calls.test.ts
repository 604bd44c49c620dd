import { describe, expect, test } from 'vitest';
import { batchCalls } from '../../src/lib/batch-calls.ts';
import { type ManualTimers, manualTimers } from '../support/timers.ts';
import { microtasks } from './microtasks.ts';

/** Batches that the test ends. */
function batches(options: { overlapAfterMs?: number; lingerMs?: () => number; timers?: ManualTimers } = {}) {
  const started: { inputs: number[]; succeed(): void; fail(): void }[] = [];
  const call = batchCalls(
    (inputs: number[]) =>
      new Promise<number[]>((resolve, reject) => {
        const succeed = () => resolve(inputs.map((input) => input * 10));
        started.push({ inputs, succeed, fail: () => reject(new Error('no')) });
      }),
    { maxBatchSize: 3, ...options },
  );
  return { call, started };
}

describe('batchCalls', () => {
  test('concurrent calls share a batch, and each gets its own output', async () => {
    const { call, started } = batches();
    const outputs = Promise.all([call(1), call(2)]);
    await microtasks();
    expect(started.map(({ inputs }) => inputs)).toEqual([[1, 2]]);
    started[0]?.succeed();
    expect(await outputs).toEqual([10, 20]);
  });

  test('calls during a batch wait for the next, up to maxBatchSize', async () => {
    const { call, started } = batches();
    const first = call(1);
    await microtasks();
    const later = Promise.all([2, 3, 4, 5].map(call));
    await microtasks();
    expect(started).toHaveLength(1);
    started[0]?.succeed();
    expect(await first).toBe(10);
    await microtasks();
    expect(started[1]?.inputs).toEqual([2, 3, 4]);
    started[1]?.succeed();
    await microtasks();
    started[2]?.succeed();
    expect(await later).toEqual([20, 30, 40, 50]);
  });

  test('a batch that does not end blocks the next for overlapAfterMs only', async () => {
    const timers = manualTimers();
    const { call, started } = batches({ overlapAfterMs: 1_000, timers });
    const stuck = call(1);
    await microtasks();
    const next = call(2);
    timers.advance(999);
    await microtasks();
    expect(started).toHaveLength(1);
    timers.advance(1);
    await microtasks();
    expect(started).toHaveLength(2);
    started[1]?.succeed();
    expect(await next).toBe(20);
    started[0]?.succeed();
    expect(await stuck).toBe(10);
  });

  test('a batch that fails rejects its own calls and no later ones', async () => {
    const { call, started } = batches();
    const failing = call(1).catch((error: Error) => error.message);
    await microtasks();
    started[0]?.fail();
    expect(await failing).toBe('no');
    const next = call(2);
    await microtasks();
    started[1]?.succeed();
    expect(await next).toBe(20);
  });

  test('with a linger, an incomplete batch waits for more calls and a full one does not', async () => {
    const timers = manualTimers();
    const { call, started } = batches({ lingerMs: () => 50, timers });
    void call(1);
    await microtasks();
    timers.advance(49);
    void call(2);
    await microtasks();
    expect(started).toHaveLength(0);
    timers.advance(1);
    await microtasks();
    expect(started.map(({ inputs }) => inputs)).toEqual([[1, 2]]);
    for (const input of [3, 4, 5]) void call(input);
    started[0]?.succeed();
    await microtasks();
    expect(started[1]?.inputs).toEqual([3, 4, 5]);
    expect(timers.now()).toBe(50);
  });
});
