import { describe, expect, test } from 'vitest';
import { every, type Loop } from '../../src/lib/every.ts';
import { systemTimers } from '../../src/lib/timers.ts';
import { eventually } from '../support/eventually.ts';
import { manualTimers } from '../support/timers.ts';
import { microtasks } from './microtasks.ts';

const hour = 3_600_000;
const unexpected = (error: unknown) => {
  throw error;
};

describe('every', () => {
  test('repeats the task after the interval, without overlapping runs', async () => {
    const timers = manualTimers();
    let runs = 0;
    let endRun = () => {};
    const task = () =>
      new Promise<void>((resolve) => {
        runs++;
        endRun = resolve;
      });
    const loop = every(hour, task, { onError: unexpected, timers });
    timers.advance(10 * hour);
    await microtasks();
    expect(runs, 'the first run has not ended').toBe(1);
    endRun();
    await microtasks();
    timers.advance(hour - 1);
    await microtasks();
    expect(runs, 'the interval is not over').toBe(1);
    timers.advance(1);
    await microtasks();
    expect(runs).toBe(2);
    endRun();
    await loop.stop();
  });

  test('reports a failure and continues', async () => {
    const timers = manualTimers();
    const failures: unknown[] = [];
    let runs = 0;
    const task = async () => {
      if (++runs < 3) throw new Error(`failure ${runs}`);
    };
    const loop = every(hour, task, { onError: (error) => void failures.push(error), timers });
    for (const _ of [1, 2]) await timers.next();
    await microtasks();
    await loop.stop();
    expect(runs).toBe(3);
    expect(failures.map(String)).toEqual(['Error: failure 1', 'Error: failure 2']);
  });

  test('pauses for the number of milliseconds that a run returns', async () => {
    const timers = manualTimers();
    let runs = 0;
    const loop = every(hour, async () => ++runs, { onError: unexpected, timers });
    for (const _ of [1, 2, 3]) await timers.next();
    await loop.stop();
    expect(timers.now()).toBe(1 + 2 + 3);
  });

  test('given waitFirst, does not run at the start', async () => {
    const timers = manualTimers();
    let runs = 0;
    const loop = every(hour, async () => void runs++, { onError: unexpected, waitFirst: true, timers });
    timers.advance(hour - 1);
    await microtasks();
    expect(runs).toBe(0);
    timers.advance(1);
    await microtasks();
    expect(runs).toBe(1);
    await loop.stop();
  });

  test('given a wake, ends the pause; given one during a run, runs once more', async () => {
    const timers = manualTimers();
    let runs = 0;
    const loop: Loop = every(
      hour,
      async () => {
        if (++runs === 2) loop.wake();
      },
      { onError: unexpected, timers },
    );
    await microtasks();
    expect(runs).toBe(1);
    loop.wake();
    await microtasks();
    expect(runs).toBe(3);
    await loop.stop();
  });

  test('stop aborts the signal of the current run and waits for its end', async () => {
    const events: string[] = [];
    let endRun = () => {};
    const task = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        events.push('run');
        signal.addEventListener('abort', () => events.push('abort'));
        endRun = resolve;
      });
    const loop = every(hour, task, { onError: unexpected, timers: manualTimers() });
    const stopped = loop.stop().then(() => events.push('stopped'));
    await microtasks();
    expect(events).toEqual(['run', 'abort']);
    endRun();
    await stopped;
    expect(events).toEqual(['run', 'abort', 'stopped']);
  });

  test('with the timers of the system, repeats, wakes and stops', async () => {
    let runs = 0;
    const loop = every(hour, async () => (++runs < 3 ? 1 : hour), { onError: unexpected, timers: systemTimers });
    await eventually(() => expect(runs).toBe(3));
    loop.wake();
    await eventually(() => expect(runs).toBe(4));
    await loop.stop();
  });
});
