import { describe, expect, test } from 'vitest';
import { created, newCode } from '../support/api.ts';
import { blamedFields } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService({
  projections: false,
  config: { shortBaseUrl: 'https://go.example.com/s', imageBaseUrl: 'https://img.example.com' },
});

describe('GET /v1/qrcodes/:id', () => {
  test('returns the code as created, including its style', async () => {
    const { live } = await service.account();
    const body = await created(live, { style: { dotsType: 'dots' } });
    const response = await live.get(`/v1/qrcodes/${body.id}`);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ ...body, version: 1, availability: 'live' });
  });

  test('short_url and image_url use the configured base URLs', async () => {
    const { live } = await service.account();
    const body = await created(live, { short_code: 'spring' });
    expect(body.short_url).toBe('https://go.example.com/s/spring');
    expect(body.image_url).toBe(`https://img.example.com/${body.id}/public`);
  });

  test('refuses a destination on the host of SHORT_BASE_URL, whatever address the service listens on', async () => {
    const { live } = await service.account();
    const create = (destination_url: string) => live.post('/v1/qrcodes', newCode({ destination_url }));
    expect((await create('https://go.example.com/other')).status).toBe(400);
    expect((await create('https://img.example.com/other')).status).toBe(201);
  });

  test('create, bulk and PATCH refuse every address of the service and name the field', async () => {
    const { live } = await service.account();
    const { port } = new URL(service.urls[0] as string);
    const body = await created(live);
    for (const own of [`http://127.0.0.1:${port}/x`, `http://[::1]:${port}`, `http://LocalHost.:${port}/x?y`]) {
      const destination_url = own;
      const responses = [
        await live.post('/v1/qrcodes', newCode({ destination_url })),
        await live.post('/v1/qrcodes/bulk', { qrcodes: [newCode({ destination_url })] }),
        await live.patch(`/v1/qrcodes/${body.id}`, { destination_url }),
      ];
      for (const response of responses) {
        expect([response.status, response.body.error.code]).toEqual([400, 'invalid_request']);
        expect(blamedFields(response)).toEqual(['destination_url']);
        expect(response.body.error.message).toContain('loop');
      }
    }
  });

  test('refuses a destination that hides its host; one stored before that rule keeps working', async () => {
    const { live } = await service.account();
    const body = await created(live, { short_code: 'from-before' });
    for (const destination_url of [
      'https://google.com@evil.example',
      'https://google.com\\.evil.example',
      'https://example.com/\u202egpj.exe',
    ]) {
      const response = await live.patch(`/v1/qrcodes/${body.id}`, { destination_url });
      expect([response.status, blamedFields(response)]).toEqual([400, ['destination_url']]);
    }
    await service.database.sql`UPDATE codes SET destination_url = 'https://me@example.com/' WHERE id = ${body.id}`;
    const renamed = await live.patch(`/v1/qrcodes/${body.id}`, { name: 'Renamed' });
    expect(renamed.body).toMatchObject({ name: 'Renamed', destination_url: 'https://me@example.com/' });
    const scanned = await fetch(`${service.urls[0]}/s/from-before`, { redirect: 'manual' });
    expect([scanned.status, scanned.headers.get('location')]).toEqual([302, 'https://me@example.com/']);
    // Current state must agree with the log again at the end.
    await service.database.sql`UPDATE codes SET destination_url = 'https://example.com/menu' WHERE id = ${body.id}`;
  });

  test.each([
    'qr_0000000000000000000000',
    'qr_',
    'qr',
    'nonsense',
    '%00',
    '%F0%9F%8D%8B',
    '%E0%A4%A',
    "qr_0000000000000000000000'--",
    'qr_..%2F..%2Fetc',
    'x'.repeat(2_000),
  ])('returns 404 for %s', async (id) => {
    const { live } = await service.account();
    const response = await live.get(`/v1/qrcodes/${id}`);
    expect(response.status).toBe(404);
    expect(response.body).toEqual({ error: { code: 'not_found', message: 'There is no such QR code.' } });
  });
});
