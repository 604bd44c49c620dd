import { describe, expect, test } from 'vitest';
import { newCode } from '../support/api.ts';
import { unknownKey } from '../support/http.ts';
import { captureLog, type LogLine } from '../support/log-lines.ts';
import { useService } from '../support/service.ts';

const captured = captureLog();
const service = useService({ projections: false, log: captured.log });
const about = (requestId: string): LogLine[] => captured.lines().filter(({ request_id }) => request_id === requestId);

describe('the log', () => {
  test('has one JSON line for each request, with id, route, status, duration and account', async () => {
    const { live, id } = await service.account();
    const { body } = await live.post('/v1/qrcodes', newCode(), { 'x-request-id': 'first' });
    await live.get(`/v1/qrcodes/${body.id}/history?page=7`, { 'x-request-id': 'second' });
    await live.get('/v1/none', { 'x-request-id': 'third' });
    expect(about('first')).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        request_id: 'first',
        method: 'POST',
        route: '/v1/qrcodes',
        status: 201,
        ms: expect.any(Number),
        account: id,
        msg: 'request',
      },
    ]);
    expect(about('second')).toMatchObject([{ method: 'GET', route: '/v1/qrcodes/:id/history', status: 200 }]);
    expect(about('third')).toMatchObject([{ route: 'unknown', status: 404 }]);
  });

  test('has the cause of an internal error, under the request id that the client received', async () => {
    const { live } = await service.account();
    await service.database.sql`ALTER TABLE code_counts RENAME TO counts_elsewhere`;
    const response = await live.get('/v1/qrcodes');
    await service.database.sql`ALTER TABLE counts_elsewhere RENAME TO code_counts`;
    expect(response.status).toBe(500);
    expect(about(response.headers.get('x-request-id') as string)).toMatchObject([
      { level: 'error', error: expect.stringContaining('code_counts'), stack: expect.any(String) },
      { status: 500, msg: 'request' },
    ]);
  });

  test('never contains a key, a body or a client address', async () => {
    const account = await service.account();
    const { live, keys } = account;
    const from = { 'x-forwarded-for': '203.0.113.99' };
    const secretName = 'Very private name';
    const secretUrl = 'https://private.example/path?token=hush';
    const wrongKey = unknownKey();
    const anonymous = service.client(0);

    const created = await live.post('/v1/account/keys', { name: secretName });
    const { body } = await live.post('/v1/qrcodes', newCode({ name: secretName, destination_url: secretUrl }), from);
    await live.post('/v1/qrcodes', { name: secretName, secret_field: secretUrl }, from);
    await live.send('/v1/qrcodes', {
      method: 'POST',
      body: `{"${secretName}`,
      headers: { 'content-type': 'application/json' },
    });
    await live.post('/v1/qrcodes', newCode({ name: secretName }), { 'idempotency-key': 'private-order-number' });
    await live.patch(`/v1/qrcodes/${body.id}`, { destination_url: `${secretUrl}2` });
    await live.get(`/v1/qrcodes/${encodeURIComponent(secretName)}?token=hush`, from);
    await live.get(`/v1/${keys.live}`, from);
    await anonymous.get('/v1/account', { ...from, authorization: `Bearer ${wrongKey}` });
    await anonymous.get(`/v1/account?key=${keys.live}`, from);
    await service.database.sql`ALTER TABLE codes RENAME TO codes_elsewhere`;
    await live.post('/v1/qrcodes', newCode({ name: secretName, destination_url: secretUrl }), from);
    await live.patch(`/v1/qrcodes/${body.id}`, { name: `${secretName} 2` });
    await service.database.sql`ALTER TABLE codes_elsewhere RENAME TO codes`;

    const text = captured.text();
    expect(captured.lines().filter(({ account: id }) => id === account.id).length).toBeGreaterThanOrEqual(10);
    for (const [what, secret] of Object.entries({
      'a live key': keys.live.slice(8),
      'a test key': keys.test.slice(8),
      'a new key': created.body.key.slice(8),
      'an unknown key': wrongKey.slice(8),
      'a name': secretName,
      'a destination': 'private.example',
      'a query': 'hush',
      'an idempotency key': 'private-order-number',
      'an address': '203.0.113.99',
      'the address of the socket': '"127.0.0.1',
    }))
      expect(text.includes(secret), what).toBe(false);
  });
});
