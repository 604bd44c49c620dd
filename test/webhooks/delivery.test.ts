import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { useService } from '../support/service.ts';
import { useReceiver } from './receiver.ts';
import { codeOf, deliveriesOf, mayCallTests, newPath, scanCode, setHook } from './webhook-support.ts';

const service = useService({ instances: 2, config: mayCallTests });
const receiver = useReceiver();
const url = () => service.urls[0] as string;

describe('a scan of an account with a webhook', () => {
  test('arrives as the interface shows it, signed so that Standard Webhooks verifies it', async () => {
    const { live } = await service.account();
    const path = newPath();
    const { secret } = await setHook(live, receiver.url(path));
    const code = await codeOf(live);
    await scanCode(url(), code);
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
    expect(got.id).toMatch(/^whd_[0-9A-Za-z]{20,}$/);
    expect(() => new Webhook(secret).verify(got.body, got.headers)).not.toThrow();
    expect(() => new Webhook(secret).verify(`${got.body} `, got.headers), 'a changed body').toThrow();

    const [delivery] = await eventually(async () => {
      const list = await deliveriesOf(live, '?status=delivered');
      expect(list).toHaveLength(1);
      return list;
    });
    expect(delivery).toMatchObject({
      id: got.id,
      status: 'delivered',
      body: JSON.parse(got.body),
      next_attempt_at: null,
      error: null,
      attempts: [{ status_code: 200, response: 'ok', error: null }],
    });
  });
});
