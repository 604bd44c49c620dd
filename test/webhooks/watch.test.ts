import { describe, expect, test } from 'vitest';
import { RequestTimeouts, timedOut } from '../../src/webhooks/watch.ts';

const aborted = ({ signal }: AbortController) =>
  new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));

describe('request timeouts', () => {
  test('abort a request after the timeout, with the reason', async () => {
    const timeouts = new RequestTimeouts(30);
    const abort = new AbortController();
    const startedAt = performance.now();
    timeouts.start(abort, startedAt);
    expect(await aborted(abort)).toBe(timedOut);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(30);
  });

  test('do not abort a request that has ended', async () => {
    const timeouts = new RequestTimeouts(30);
    const [ended, hanging] = [new AbortController(), new AbortController()];
    timeouts.start(ended, performance.now());
    timeouts.start(hanging, performance.now());
    timeouts.end(ended);
    await aborted(hanging);
    expect(ended.signal.aborted).toBe(false);
  });

  test('start over when a controller is reused', async () => {
    const timeouts = new RequestTimeouts(60);
    const [again, first] = [new AbortController(), new AbortController()];
    timeouts.start(again, performance.now());
    timeouts.start(first, performance.now());
    timeouts.end(again);
    timeouts.start(again, performance.now() + 60);
    await aborted(first);
    expect(again.signal.aborted).toBe(false);
    expect(await aborted(again)).toBe(timedOut);
  });

  test('still work after all requests have ended', async () => {
    const timeouts = new RequestTimeouts(20);
    for (const abort of [new AbortController(), new AbortController()]) {
      timeouts.start(abort, performance.now());
      expect(await aborted(abort)).toBe(timedOut);
    }
  });
});
