import { describe, expect, test } from 'vitest';
import { timeouts } from '../../src/lib/timeouts.ts';
import { eventually, reaches } from '../support/eventually.ts';
import { atOnce } from '../support/http.ts';
import { answer, type Behaviour } from './receiver.ts';
import { codeOf, newPath, scanCode, setHook, untilThereAre, type WebhookWorld } from './webhook-support.ts';

/** Holds all responses back until `open` is called. */
function gate(): { behaviour: Behaviour; open(): void } {
  const opened = Promise.withResolvers<void>();
  const behaviour: Behaviour = async (socket, received) => {
    await opened.promise;
    await answer(200, 'ok')(socket, received);
  };
  return { behaviour, open: () => opened.resolve() };
}

/** Calls `work` while no example event may wait for a slot. */
async function withoutWaiting<T>(work: () => Promise<T>): Promise<T> {
  const { exampleSlotMs } = timeouts;
  timeouts.exampleSlotMs = 0;
  try {
    return await work();
  } finally {
    timeouts.exampleSlotMs = exampleSlotMs;
  }
}

/** Tests of the slots that example events and deliveries share, on the services of the calling file. */
export function testSlots({ service, receiver }: WebhookWorld): void {
  async function given() {
    const account = await service.account();
    const path = newPath();
    await setHook(account.live, receiver.url(path));
    return { ...account, path };
  }

  const example = (key: string, instance = 0) => service.client(instance, key).post('/v1/account/webhook/test', {});

  describe('an example event', () => {
    test('is refused with 503 while 8 deliveries are in flight, and is never a ninth request', async () => {
      const { live, keys, path, id } = await given();
      const { behaviour, open } = gate();
      receiver.behave(path, behaviour);
      await scanCode(service.urls[0] as string, await codeOf(live), 12);
      await receiver.gets(path, 8);

      const refused = await withoutWaiting(() => example(keys.live, 1));
      expect([refused.status, refused.body.error.code]).toEqual([503, 'unavailable']);
      expect(refused.headers.get('retry-after')).toBe('5');
      expect(refused.body.error.message).toContain('All 8 concurrent requests');
      expect(receiver.received(path)).toHaveLength(8);

      open();
      await untilThereAre(service.database.sql, id, 12, 'delivered');
      expect((await example(keys.live)).body).toMatchObject({ delivered: true, status_code: 200 });
      expect(receiver.maxConcurrent(path)).toBe(8);
      const left = await service.database.sql`SELECT 1 FROM endpoint_tests WHERE account = ${id}`;
      expect(left, 'all slots are free').toHaveLength(0);
    });

    test('gets the next free slot before pending deliveries', async () => {
      const { live, keys, path, id } = await given();
      const { behaviour, open } = gate();
      receiver.behave(path, behaviour);
      await scanCode(service.urls[0] as string, await codeOf(live), 30);
      await receiver.gets(path, 8);
      const sent = example(keys.live);
      await eventually(async () => {
        expect(await service.database.sql`SELECT 1 FROM endpoint_tests WHERE account = ${id}`).toHaveLength(1);
      });
      open();
      expect((await sent).body).toMatchObject({ delivered: true });
      await untilThereAre(service.database.sql, id, 30, 'delivered');
      expect(receiver.maxConcurrent(path)).toBe(8);
    });

    test('uses a slot: with 3 of them in flight, 5 deliveries are sent', async () => {
      const { live, keys, path, id } = await given();
      const { behaviour, open } = gate();
      receiver.behave(path, behaviour);
      const examples = atOnce(3, (i) => example(keys.live, i % 2));
      await receiver.gets(path, 3);
      await scanCode(service.urls[0] as string, await codeOf(live), 10);
      await receiver.gets(path, 8);
      open();
      expect((await examples).map(({ body }) => body.delivered)).toEqual([true, true, true]);
      await untilThereAre(service.database.sql, id, 10, 'delivered');
      expect(receiver.maxConcurrent(path)).toBe(8);
    });

    test('of 12 at once on two instances, 8 are sent and 4 are refused', async () => {
      const { keys, path } = await given();
      const { behaviour, open } = gate();
      receiver.behave(path, behaviour);
      const responses = Array.from({ length: 12 }, (_, i) => example(keys.live, i % 2));
      await receiver.gets(path, 8);
      let refused = 0;
      for (const sent of responses) void sent.then(({ status }) => status === 503 && refused++);
      await withoutWaiting(() => reaches(4, () => refused));
      open();
      expect((await Promise.all(responses)).map(({ status }) => status).toSorted()).toEqual([
        ...Array.from({ length: 8 }, () => 200),
        ...Array.from({ length: 4 }, () => 503),
      ]);
      expect(receiver.maxConcurrent(path)).toBe(8);
    });
  });
}
