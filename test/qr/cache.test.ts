import { describe, expect, test } from 'vitest';
import { createImageCache, QueueFull } from '../../src/qr/cache.ts';

const image = (bytes: number) => new Uint8Array(bytes);
const KB = 1024;

/** A drawing that is finished, or fails, when the test says so. */
function drawing() {
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
  test('an image is drawn once and then kept', async () => {
    const cache = createImageCache({ maxBytes: 10 * KB });
    const first = await cache.get('a', async () => image(KB));
    expect(await cache.get('a', never)).toBe(first);
  });

  test('however many ask for one image at once, it is drawn once', async () => {
    const cache = createImageCache({ maxBytes: 10 * KB });
    const { draw, finish, times } = drawing();
    const asked = Array.from({ length: 100 }, () => cache.get('a', draw));
    finish(image(KB));
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    expect(times()).toBe(1);
  });

  test('when a drawing fails, all who asked are told, and the next one draws again', async () => {
    const cache = createImageCache({ maxBytes: 10 * KB });
    const { draw, fail } = drawing();
    const asked = [cache.get('a', draw), cache.get('a', draw)];
    fail(new Error('no ink'));
    for (const one of asked) await expect(one).rejects.toThrow('no ink');
    expect(await cache.get('a', async () => image(5))).toEqual(image(5));
    expect(cache.bytes).toBeGreaterThan(0);
  });

  test('a drawing that throws at once is a failed one', async () => {
    const cache = createImageCache({ maxBytes: 10 * KB, maxDrawing: 1 });
    const broken = () => {
      throw new RangeError('size');
    };
    await expect(cache.get('a', broken)).rejects.toThrow('size');
    expect(await cache.get('a', async () => image(7))).toEqual(image(7));
  });

  test('beyond `maxWaiting` it refuses at once, and those that wait are drawn', async () => {
    const cache = createImageCache({ maxBytes: 10 * KB, maxDrawing: 1, maxWaiting: 2 });
    const { draw, finish } = drawing();
    const asked = ['a', 'b', 'c'].map((key) => cache.get(key, draw));
    await expect(cache.get('d', never)).rejects.toBeInstanceOf(QueueFull);
    const again = cache.get('b', never);
    finish(image(KB));
    expect(await Promise.all([...asked, again])).toHaveLength(4);
    expect(await cache.get('d', async () => image(7))).toEqual(image(7));
  });

  test('never keeps more than its bytes, and drops what was asked for longest ago', async () => {
    const cache = createImageCache({ maxBytes: 4 * KB });
    for (const key of ['a', 'b', 'c']) await cache.get(key, async () => image(KB));
    await cache.get('a', never);
    await cache.get('d', async () => image(KB));
    expect(cache.bytes).toBeLessThanOrEqual(4 * KB);
    const { draw, finish, times } = drawing();
    finish(image(1));
    await cache.get('a', never);
    await cache.get('c', never);
    await cache.get('d', never);
    await cache.get('b', draw);
    expect(times()).toBe(1);
  });

  test('many tiny images are not free', async () => {
    const cache = createImageCache({ maxBytes: 64 * KB });
    for (let i = 0; i < 10_000; i++) await cache.get(`tiny ${i}`, async () => image(1));
    expect(cache.bytes).toBeLessThanOrEqual(64 * KB);
    const { draw, finish, times } = drawing();
    finish(image(1));
    await cache.get('tiny 0', draw);
    expect(times()).toBe(1);
  });

  test('an image larger than the cache is handed out and not kept', async () => {
    const cache = createImageCache({ maxBytes: KB });
    await cache.get('small', async () => image(100));
    expect((await cache.get('large', async () => image(2 * KB))).length).toBe(2 * KB);
    await cache.get('small', never);
    expect(cache.bytes).toBeLessThanOrEqual(KB);
  });

  test('only so many different images are drawn at a time, in the order asked', async () => {
    const cache = createImageCache({ maxBytes: 10 * KB, maxDrawing: 2 });
    const [a, b, c, d] = [drawing(), drawing(), drawing(), drawing()];
    const asked = [a, b, c, d].map(({ draw }, i) => cache.get(String(i), draw));
    await Promise.all([a.started, b.started]);
    expect([c.times(), d.times()]).toEqual([0, 0]);
    a.fail(new Error('no ink'));
    await expect(asked[0]).rejects.toThrow('no ink');
    await c.started;
    expect(d.times()).toBe(0);
    b.finish(image(1));
    await d.started;
    c.finish(image(1));
    d.finish(image(1));
    await Promise.all(asked.slice(1));
  });
});
