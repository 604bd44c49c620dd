import { describe, expect, test } from 'vitest';
import { createImageCache } from '../../src/qr/cache.ts';

const image = (bytes: number) => new Uint8Array(bytes);
const kb = 1024;

/** A drawing that the test finishes or fails. */
function controlledDrawing() {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  const started = Promise.withResolvers<void>();
  let times = 0;
  const draw = () => {
    times++;
    started.resolve();
    return promise;
  };
  return { draw, finish: resolve, fail: reject, started: started.promise, times: () => times };
}

const never = () => Promise.reject(new Error('should not be drawn'));

describe('image cache', () => {
  test('draws an image once and then returns the cached one', async () => {
    const cache = createImageCache({ maxBytes: 10 * kb });
    const first = await cache.get('a', async () => image(kb));
    expect(await cache.get('a', never)).toBe(first);
  });

  test('100 concurrent requests for one image draw it once', async () => {
    const cache = createImageCache({ maxBytes: 10 * kb });
    const { draw, finish, times } = controlledDrawing();
    const requests = Array.from({ length: 100 }, () => cache.get('a', draw));
    finish(image(kb));
    expect(new Set(await Promise.all(requests)).size).toBe(1);
    expect(times()).toBe(1);
  });

  test('a failed drawing rejects all waiting requests, and the next request draws again', async () => {
    const cache = createImageCache({ maxBytes: 10 * kb });
    const { draw, fail } = controlledDrawing();
    const requests = [cache.get('a', draw), cache.get('a', draw)];
    fail(new Error('drawing failed'));
    for (const one of requests) await expect(one).rejects.toThrow('drawing failed');
    expect(await cache.get('a', async () => image(5))).toEqual(image(5));
    expect(cache.bytes).toBeGreaterThan(0);
  });

  test('a drawing that throws synchronously rejects the request', async () => {
    const cache = createImageCache({ maxBytes: 10 * kb });
    const broken = () => {
      throw new RangeError('size');
    };
    await expect(cache.get('a', broken)).rejects.toThrow('size');
    expect(await cache.get('a', async () => image(7))).toEqual(image(7));
  });

  test('aborts a drawing when no request waits for it any more, and then draws again', async () => {
    const cache = createImageCache({ maxBytes: 10 * kb });
    const [first, second] = [new AbortController(), new AbortController()];
    let drawing: AbortSignal | undefined;
    const draw = (signal: AbortSignal) => {
      drawing = signal;
      return new Promise<Uint8Array<ArrayBuffer>>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    };
    const requests = [cache.get('a', draw, first.signal), cache.get('a', never, second.signal)];
    first.abort(new Error('closed'));
    expect(drawing?.aborted, 'another request still waits').toBe(false);
    second.abort(new Error('closed, too'));
    expect(drawing?.aborted).toBe(true);
    for (const one of requests) await expect(one).rejects.toThrow('closed, too');
    await expect(cache.get('a', draw, first.signal), 'closed before').rejects.toThrow('closed');
    expect(await cache.get('a', async () => image(7))).toEqual(image(7));
  });

  test('never exceeds `maxBytes`, and evicts the least recently used image', async () => {
    const cache = createImageCache({ maxBytes: 4 * kb });
    for (const key of ['a', 'b', 'c']) await cache.get(key, async () => image(kb));
    await cache.get('a', never);
    await cache.get('d', async () => image(kb));
    expect(cache.bytes).toBeLessThanOrEqual(4 * kb);
    const { draw, finish, times } = controlledDrawing();
    finish(image(1));
    await cache.get('a', never);
    await cache.get('c', never);
    await cache.get('d', never);
    await cache.get('b', draw);
    expect(times()).toBe(1);
  });

  test('counts the overhead of tiny images', async () => {
    const cache = createImageCache({ maxBytes: 64 * kb });
    for (let i = 0; i < 10_000; i++) await cache.get(`tiny ${i}`, async () => image(1));
    expect(cache.bytes).toBeLessThanOrEqual(64 * kb);
    const { draw, finish, times } = controlledDrawing();
    finish(image(1));
    await cache.get('tiny 0', draw);
    expect(times()).toBe(1);
  });

  test('returns an image larger than the cache without caching it', async () => {
    const cache = createImageCache({ maxBytes: kb });
    await cache.get('small', async () => image(100));
    expect((await cache.get('large', async () => image(2 * kb))).length).toBe(2 * kb);
    await cache.get('small', never);
    expect(cache.bytes).toBeLessThanOrEqual(kb);
  });
});
