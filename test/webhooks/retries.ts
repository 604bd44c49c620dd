import { describe, expect, test } from 'vitest';
import type { Api, Json } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { answer, type Behaviour } from './receiver.ts';
import {
  allApplied,
  codeOf,
  deliveriesOf,
  newPath,
  scanCode,
  setHook,
  untilThereAre,
  untilTried,
  type WebhookWorld,
} from './webhook-support.ts';

interface Scanned {
  live: Api;
  id: string;
  path: string;
}

const day = 24 * 60 * 60 * 1000;

/** Tests of retries and of what disables a webhook, on the services of the calling file. */
export function testRetries({ service, receiver, time }: WebhookWorld): void {
  /** One scan of a new account whose receiver has this behaviour. */
  async function scannedOnce(behaviour: Behaviour): Promise<Scanned> {
    const { live, id } = await service.account();
    const path = newPath();
    receiver.behave(path, behaviour);
    await setHook(live, receiver.url(path));
    await scanCode(service.urls[0] as string, await codeOf(live));
    return { live, id, path };
  }

  const afterAttempts = async ({ id, live }: Scanned, count: number): Promise<Json> => {
    await untilTried(service.database.sql, id, count);
    const [delivery] = await deliveriesOf(live);
    return delivery;
  };

  const delayOf = ({ next_attempt_at, attempts }: Json) =>
    (Date.parse(next_attempt_at) - Date.parse(attempts.at(-1).timestamp)) / 1000;

  describe('a failed delivery', () => {
    test('is retried after each delay with the same webhook-id, and fails after the last', async () => {
      const account = await scannedOnce(answer(500, 'out of order'));
      const { live, path } = account;
      const steps = [5, 300, 1_800, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600)];
      for (const [i, step] of steps.entries()) {
        const delivery = await afterAttempts(account, i + 1);
        expect(delivery).toMatchObject({ status: 'pending', error: expect.stringContaining('500') });
        expect(delayOf(delivery), `after attempt ${i + 1}`).toBeGreaterThanOrEqual(step * 0.8);
        expect(delayOf(delivery), `after attempt ${i + 1}`).toBeLessThanOrEqual(step * 1.2);
        time.to(delivery.next_attempt_at);
      }
      const failed = await afterAttempts(account, 10);
      expect(failed).toMatchObject({ status: 'failed', next_attempt_at: null });
      expect(failed.attempts.at(-1)).toMatchObject({ status_code: 500, response: 'out of order' });
      const got = receiver.received(path);
      expect(new Set(got.map(({ id }) => id))).toEqual(new Set([failed.id]));
      expect(new Set(got.map(({ body }) => body)).size, 'the same body in each attempt').toBe(1);
      const times = got.map(({ headers }) => Number(headers['webhook-timestamp']));
      expect(times, 'each with the timestamp of its attempt').toEqual([...new Set(times)].toSorted((a, b) => a - b));
      expect((await live.get('/v1/account/webhook')).body).toMatchObject({ status: 'enabled' });

      receiver.behave(path, answer(200, 'fixed'));
      const resent = await live.post(`/v1/account/webhook/deliveries/${failed.id}/resend`, {});
      expect(resent.body).toMatchObject({ id: failed.id, status: 'pending', error: null });
      expect(await afterAttempts(account, 11)).toMatchObject({ status: 'delivered', error: null });
      expect(receiver.received(path).at(-1)?.id).toBe(failed.id);
    });

    test('is retried later if the receiver sends Retry-After, up to twice the delay', async () => {
      const account = await scannedOnce(answer(503, '', { 'retry-after': 9 }));
      const first = await afterAttempts(account, 1);
      expect(delayOf(first)).toBe(9);
      const other = await scannedOnce(answer(429, '', { 'retry-after': 86_400 }));
      expect(delayOf(await afterAttempts(other, 1))).toBe(10);
    });

    test('that succeeds on retry resets failing_since', async () => {
      const account = await scannedOnce(answer(500));
      const { live, path } = account;
      const { next_attempt_at } = await afterAttempts(account, 1);
      expect((await live.get('/v1/account/webhook')).body.failing_since).not.toBeNull();
      receiver.behave(path, answer(200));
      time.to(next_attempt_at);
      expect(await afterAttempts(account, 2)).toMatchObject({ status: 'delivered' });
      expect((await live.get('/v1/account/webhook')).body.failing_since).toBeNull();
    });
  });

  describe('a webhook is disabled', () => {
    test('by a 410 response; PUT enables it again with the same secret', async () => {
      const account = await scannedOnce(answer(410));
      const { live, path } = account;
      const disabled = await eventually(async () => {
        const { body } = await live.get('/v1/account/webhook');
        expect(body).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
        return body;
      });
      expect(await afterAttempts(account, 1)).toMatchObject({ status: 'failed' });
      const [delivery] = await deliveriesOf(live);
      expect((await live.post(`/v1/account/webhook/deliveries/${delivery.id}/resend`, {})).status).toBe(409);

      receiver.behave(path, answer(200));
      time.forward(1);
      const enabled = await setHook(live, receiver.url(path));
      expect(enabled).toMatchObject({ status: 'enabled', disabled_reason: null, secret: disabled.secret });
      expect(enabled.created_at).toBe(disabled.created_at);
      expect((await live.post(`/v1/account/webhook/deliveries/${delivery.id}/resend`, {})).status).toBe(200);
      expect(await afterAttempts(account, 2)).toMatchObject({ status: 'delivered' });
    });

    test('after five days of failures; pending deliveries fail, and new scans are not sent', async () => {
      const account = await scannedOnce(answer(500));
      const { live, path } = account;
      await afterAttempts(account, 1);
      time.forward(5 * day);
      await eventually(async () =>
        expect((await live.get('/v1/account/webhook')).body).toMatchObject({
          status: 'disabled',
          disabled_reason: 'failing',
        }),
      );
      await untilThereAre(service.database.sql, account.id, 0, 'pending');
      const [{ error }] = (await deliveriesOf(live, '?status=failed')) as [Json];
      expect(error).toContain('disabled before this could be sent');
      const before = receiver.received(path).length;
      await scanCode(service.urls[0] as string, await codeOf(live));
      await allApplied(service);
      const { body } = await live.post('/v1/account/webhook/test', {});
      expect(body, 'an example event can still be sent').toMatchObject({ delivered: false, status_code: 500 });
      expect(receiver.received(path)).toHaveLength(before + 1);
    });
  });
}
