import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { resume, setPlan, suspend } from '../../src/accounts/accounts.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { findTarget } from '../../src/webhooks/target.ts';
import type { Json } from '../support/api.ts';
import { eventually, reaches } from '../support/eventually.ts';
import { testBox } from '../support/secret-box.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { useTimeouts } from '../support/timeouts.ts';
import { movableClock } from './clock.ts';
import { answer, type Behaviour, hang, type Received, reset, together, useReceiver } from './receiver.ts';
import { testRetries } from './retries.ts';
import { testSlots } from './test-slots.ts';
import {
  codeOf,
  deliveriesOf,
  mayCallTests,
  newPath,
  scanCode,
  setHook,
  untilThereAre,
  withoutSendTimeout,
} from './webhook-support.ts';

const time = movableClock();
useTimeouts(withoutSendTimeout);
const service = useService({ instances: 2, config: mayCallTests, clock: time.clock });
const receiver = useReceiver();
const url = () => service.urls[0] as string;

/** An account with a code and a webhook on a new path of the receiver. */
async function given(account?: TestAccount) {
  const owner = account ?? (await service.account());
  const path = newPath();
  const webhook = await setHook(owner.live, receiver.url(path));
  const code = await codeOf(owner.live);
  return { ...owner, path, webhook, code, scan: (times = 1) => scanCode(url(), code, times) };
}

const idsOf = (received: Received[]) => received.map(({ id }) => id);
const scanIdsOf = (received: Received[]) => received.map(({ body }) => JSON.parse(body).data.scan_id);
const settled = async (account: TestAccount, status: string, count: number): Promise<Json[]> => {
  await untilThereAre(service.database.sql, account.id, count, status);
  return deliveriesOf(account.live, `?status=${status}`);
};

describe('a scan of an account with a webhook', () => {
  test('is delivered as documented, with a signature that Standard Webhooks verifies', async () => {
    const account = await given();
    const { path, code, webhook } = account;
    await account.scan();
    const [got] = await receiver.gets(path, 1);
    if (got === undefined) throw new Error('nothing arrived');
    expect(JSON.parse(got.body)).toEqual({
      event: 'scan.created',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: {
        qr_id: code.id,
        scan_id: expect.stringMatching(/^scan_[0-9A-Za-z]{20,}$/),
        country: expect.stringMatching(/^[A-Z]{2}$/),
        city: expect.any(String),
        device: 'desktop',
        is_unique: true,
      },
    });
    expect(got.headers).toMatchObject({ 'content-type': 'application/json', host: `127.0.0.1:${receiver.port}` });
    expect(got.headers, 'while traces are off').not.toHaveProperty('traceparent');
    expect(got.id).toMatch(/^whd_[0-9A-Za-z]{20,}$/);
    const verify = (body: string) => time.at(() => new Webhook(webhook.secret).verify(body, got.headers));
    expect(verify(got.body)).toEqual(JSON.parse(got.body));
    expect(() => verify(`${got.body} `), 'a changed body').toThrow('No matching signature found');
    const [delivery] = await settled(account, 'delivered', 1);
    expect(delivery).toMatchObject({
      id: got.id,
      body: JSON.parse(got.body),
      next_attempt_at: null,
      error: null,
      attempts: [{ status_code: 200, response: 'ok', error: null }],
    });
  });

  test('has two signatures for a day after a rotation, so either secret verifies it', async () => {
    const account = await given();
    const { live, webhook } = account;
    const rotated = (await live.post('/v1/account/webhook/rotate', {})).body;
    expect(rotated.secret).not.toBe(webhook.secret);
    const hours = (Date.parse(rotated.old_secret_valid_until) - time.clock().getTime()) / 3_600_000;
    expect(hours).toBe(24);
    await account.scan();
    const [got] = await receiver.gets(account.path, 1);
    for (const secret of [webhook.secret, rotated.secret])
      time.at(() => expect(() => new Webhook(secret).verify(got?.body ?? '', got?.headers ?? {})).not.toThrow());

    time.to(rotated.old_secret_valid_until);
    await eventually(async () => {
      await account.scan();
      const last = receiver.received(account.path).at(-1);
      expect(last?.headers['webhook-signature']?.split(' '), 'one signature after the day').toHaveLength(1);
    });
    expect((await live.get('/v1/account/webhook')).body.old_secret_valid_until).toBeNull();
  });

  test('is delivered only if it happened after the webhook was set, and in its mode', async () => {
    const account = await service.account();
    const [before, development] = [await codeOf(account.live), await codeOf(account.test)];
    await scanCode(url(), before, 3);
    await service.allStored();
    const { path, code } = await given(account);
    await scanCode(url(), development, 2);
    await scanCode(url(), before);
    await scanCode(url(), code);
    await settled(account, 'delivered', 2);
    expect(
      receiver
        .received(path)
        .map(({ body }) => JSON.parse(body).data.qr_id)
        .toSorted(),
    ).toEqual([before.id, code.id].toSorted());
    expect((await account.test.get('/v1/account/webhook')).status, 'the test mode has no webhook').toBe(404);
  });

  test('is delivered once, with at most 8 requests in flight across both instances', async () => {
    const account = await given();
    receiver.behave(account.path, together(8, answer(200)));
    await account.scan(64);
    await settled(account, 'delivered', 64);
    const got = receiver.received(account.path);
    expect(new Set(scanIdsOf(got)).size).toBe(64);
    expect(idsOf(got)).toHaveLength(64);
    expect(receiver.maxConcurrent(account.path)).toBe(8);
  });
});

describe('a receiver that misbehaves', () => {
  const misbehaving = async (behaviour: Behaviour) => {
    const account = await given();
    receiver.behave(account.path, behaviour);
    return account;
  };

  test('does not delay deliveries to other receivers', async () => {
    const hanging = await given();
    receiver.behave(hanging.path, hang);
    await hanging.scan(20);
    await reaches(8, () => receiver.received(hanging.path).length);
    const [resetting, failing, redirecting, huge] = await Promise.all([
      misbehaving(reset),
      misbehaving(answer(500)),
      misbehaving(answer(302, '', { location: '/' })),
      misbehaving(answer(200, 'x'.repeat(300_000))),
    ]);
    const healthy = await Promise.all([1, 2, 3, 4, 5].map(() => given()));
    await Promise.all([resetting, failing, redirecting, huge, ...healthy].map((account) => account.scan(5)));
    for (const account of healthy) await settled(account, 'delivered', 5);
    expect(receiver.received(hanging.path), 'it has not answered meanwhile').toHaveLength(8);
    await settled(huge, 'delivered', 5);
    const hasError = (account: TestAccount, why: string) =>
      eventually(async () => {
        const [row] = await service.database.sql`
          SELECT error FROM deliveries WHERE account = ${account.id} AND status = 'pending' AND tries > 0`;
        expect(row?.['error']).toContain(why);
      });
    await hasError(resetting, 'closed before a response');
    await hasError(failing, '500');
    await hasError(redirecting, 'redirect');
  });
});

describe('a pending delivery', () => {
  /** More than the longest delay of the second attempt. */
  const retryMs = 6_001;
  /** An account with deliveries that wait for their next attempt. */
  async function withPending(count: number) {
    const account = await given();
    receiver.behave(account.path, answer(500));
    await account.scan(count);
    await eventually(async () => {
      const tried = await service.database.sql`
        SELECT FROM deliveries WHERE account = ${account.id} AND status = 'pending' AND tries > 0`;
      expect(tried).toHaveLength(count);
    });
    return account;
  }

  test('fails with the reason when the webhook is removed, and can be resent later', async () => {
    const account = await withPending(3);
    expect((await account.live.delete('/v1/account/webhook')).body).toEqual({ deleted: true, mode: 'live' });
    const failed = await settled(account, 'failed', 3);
    for (const { error } of failed) expect(error).toBe('The webhook was removed before this could be sent.');
    const resend = () => account.live.post(`/v1/account/webhook/deliveries/${failed[0]?.id}/resend`, {});
    expect((await resend()).status, 'without a webhook').toBe(404);
    const secret = (await setHook(account.live, receiver.url(newPath()))).secret;
    expect(secret, 'a new webhook has a new secret').not.toBe(account.webhook.secret);
    expect((await resend()).status).toBe(200);
    await settled(account, 'delivered', 1);
    await settled(account, 'failed', 2);
  });

  test('fails when the account changes to Free; back on a paid plan, new scans are delivered', async () => {
    const account = await withPending(2);
    const { sql } = service.database;
    await setPlan(sql, account.id, 'free', new Date());
    const refused = await account.live.get('/v1/account/webhook/deliveries');
    expect([refused.status, refused.body.error.code]).toEqual([403, 'plan_required']);
    await account.scan();
    await untilThereAre(sql, account.id, 2, 'failed');
    await setPlan(sql, account.id, 'pro', new Date());
    receiver.behave(account.path, answer(200));
    await account.scan();
    await settled(account, 'delivered', 1);
    expect((await settled(account, 'failed', 2))[0]?.error).toContain('plan without webhooks');
  });

  test('is sent to the new URL after a change, signed with the same secret', async () => {
    const account = await withPending(2);
    const path = newPath();
    expect((await setHook(account.live, receiver.url(path))).secret).toBe(account.webhook.secret);
    time.forward(retryMs);
    const got = await receiver.gets(path, 2);
    expect(new Set(idsOf(got)).size).toBe(2);
    await settled(account, 'delivered', 2);
  });

  test('waits while the account is suspended, and is sent when it is resumed', async () => {
    const { sql } = service.database;
    const account = await withPending(2);
    const other = await withPending(1);
    await suspend(sql, account.id, 'unpaid', time.clock());
    const attempts = receiver.received(account.path).length;
    for (const { path } of [account, other]) receiver.behave(path, answer(200));
    time.forward(retryMs);
    // Due later than the deliveries of the suspended account.
    await settled(other, 'delivered', 1);
    expect(receiver.received(account.path)).toHaveLength(attempts);
    await resume(sql, account.id, time.clock());
    await settled(account, 'delivered', 2);
  });

  test('has no target from the suspension of the account on, also while others of it are being sent', async () => {
    const { sql } = service.database;
    const account = await given();
    const [{ id }] = await sql<[{ id: string }]>`SELECT webhook AS id FROM subscriptions WHERE account = ${account.id}`;
    const target = () =>
      findTarget(sql, testBox, { account: account.id, webhook: id }, time.clock(), { onlyWhenOn: true });
    expect(await target()).toMatchObject({ url: receiver.url(account.path) });
    await suspend(sql, account.id, 'unpaid', time.clock());
    expect(await target()).toBeUndefined();
    await resume(sql, account.id, time.clock());
    expect(await target()).toMatchObject({ url: receiver.url(account.path) });
  });

  test('is still sent after its code is deleted', async () => {
    const account = await withPending(1);
    expect((await account.live.delete(`/v1/qrcodes/${account.code.id}`)).status).toBe(200);
    receiver.behave(account.path, answer(200));
    time.forward(retryMs);
    await settled(account, 'delivered', 1);
  });
});

testRetries({ service, receiver, time });
testSlots({ service, receiver, time });

test('a replay of the state restores webhooks and sends nothing', async () => {
  const account = await given();
  await account.scan(2);
  await settled(account, 'delivered', 2);
  const { sql } = service.database;
  await sql`UPDATE webhooks SET url = 'https://wrong.example' WHERE account = ${account.id}`;
  expect(await replayState(sql)).toMatchObject({ corrected: 1 });
  expect((await account.live.get('/v1/account/webhook')).body).toEqual(account.webhook);
  await account.scan();
  await settled(account, 'delivered', 3);
  expect(idsOf(receiver.received(account.path)).length, 'each is sent once').toBe(3);
  expect(await deliveriesOf(account.live)).toHaveLength(3);
});
