import { describe, expect, test } from 'vitest';
import { createWatch, tooLate } from '../../src/webhooks/watch.ts';

const aborted = ({ signal }: AbortController) =>
  new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));

describe('a watch over requests', () => {
  test('ends one that takes too long, and tells why', async () => {
    const watch = createWatch(30);
    const abort = new AbortController();
    const began = performance.now();
    watch.begin(abort, began);
    expect(await aborted(abort)).toBe(tooLate);
    expect(performance.now() - began).toBeGreaterThanOrEqual(30);
  });

  test('leaves alone one that has ended, however long others take', async () => {
    const watch = createWatch(30);
    const [ended, hanging] = [new AbortController(), new AbortController()];
    watch.begin(ended, performance.now());
    watch.begin(hanging, performance.now());
    watch.end(ended);
    await aborted(hanging);
    expect(ended.signal.aborted).toBe(false);
  });

  test('counts anew for one whose controller is used again', async () => {
    const watch = createWatch(60);
    const [again, first] = [new AbortController(), new AbortController()];
    watch.begin(again, performance.now());
    watch.begin(first, performance.now());
    watch.end(again);
    watch.begin(again, performance.now() + 60);
    await aborted(first);
    expect(again.signal.aborted).toBe(false);
    expect(await aborted(again)).toBe(tooLate);
  });

  test('watches on after a time with nothing to watch', async () => {
    const watch = createWatch(20);
    for (const abort of [new AbortController(), new AbortController()]) {
      watch.begin(abort, performance.now());
      expect(await aborted(abort)).toBe(tooLate);
    }
  });
});
