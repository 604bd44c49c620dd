import { describe, expect, test } from 'vitest';
import { every, type Loop } from '../../src/lib/every.ts';
import { eventually } from '../support/eventually.ts';

const hour = 3_600_000;
const unexpected = (error: unknown) => {
  throw error;
};

describe('every', () => {
  test('repeats the task without overlapping runs', async () => {
    let [running, maxRunning, runs] = [0, 0, 0];
    const loop = every(
      1,
      async () => {
        maxRunning = Math.max(maxRunning, ++running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running--;
        runs++;
      },
      { onError: unexpected },
    );
    await eventually(() => expect(runs).toBeGreaterThan(3));
    await loop.stop();
    expect(maxRunning).toBe(1);
  });

  test('reports a failure and continues', async () => {
    const failures: unknown[] = [];
    let runs = 0;
    const task = async () => {
      if (++runs < 3) throw new Error(`failure ${runs}`);
      return hour;
    };
    const loop = every(1, task, { onError: (error) => void failures.push(error) });
    await eventually(() => expect(runs).toBe(3));
    await loop.stop();
    expect(failures.map(String)).toEqual(['Error: failure 1', 'Error: failure 2']);
  });

  test('pauses for the number of milliseconds that a run returns', async () => {
    let runs = 0;
    const loop = every(hour, async () => (++runs < 3 ? 1 : hour), { onError: unexpected });
    await eventually(() => expect(runs).toBe(3));
    await loop.stop();
  });

  test('given waitFirst, does not run at the start', async () => {
    let runs = 0;
    const loop = every(hour, async () => void runs++, { onError: unexpected, waitFirst: true });
    await loop.stop();
    expect(runs).toBe(0);
  });

  test('given a wake, ends the pause; given one during a run, runs once more', async () => {
    let runs = 0;
    const loop: Loop = every(
      hour,
      async () => {
        if (++runs === 2) loop.wake();
      },
      { onError: unexpected },
    );
    await eventually(() => expect(runs).toBe(1));
    loop.wake();
    await eventually(() => expect(runs).toBe(3));
    await loop.stop();
  });

  test('stop aborts the signal of the current run and waits for its end', async () => {
    const events: string[] = [];
    const loop = every(
      1,
      (signal) =>
        new Promise<void>((resolve) => {
          events.push('run');
          signal.addEventListener('abort', () => {
            events.push('abort');
            setTimeout(() => {
              events.push('end');
              resolve();
            }, 5);
          });
        }),
      { onError: unexpected },
    );
    await eventually(() => expect(events).toEqual(['run']));
    await loop.stop();
    expect(events).toEqual(['run', 'abort', 'end']);
  });
});
