import { describe, expect, test } from 'vitest';
import { newCode } from '../support/api.ts';
import { useService } from '../support/service.ts';

const service = useService({
  config: { shortBaseUrl: 'https://go.example.com/s', imageBaseUrl: 'https://img.example.com' },
});

describe('a single code', () => {
  test('is read as it was created, style included', async () => {
    const { live } = await service.account();
    const { body } = await live.post('/v1/qrcodes', newCode({ style: { dotsType: 'dots' } }));
    const answer = await live.get(`/v1/qrcodes/${body.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(body);
  });

  test('short link and image stand where the settings say', async () => {
    const { live } = await service.account();
    const { body } = await live.post('/v1/qrcodes', newCode({ short_code: 'spring' }));
    expect(body.short_url).toBe('https://go.example.com/s/spring');
    expect(body.image_url).toBe(`https://img.example.com/${body.id}/public`);
  });

  test('a destination where short links live is a loop, wherever the service itself listens', async () => {
    const { live } = await service.account();
    const create = (destination_url: string) => live.post('/v1/qrcodes', newCode({ destination_url }));
    expect((await create('https://go.example.com/other')).status).toBe(400);
    expect((await create('https://img.example.com/other')).status).toBe(201);
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
  ])('there is no code %s: 404', async (id) => {
    const { live } = await service.account();
    const answer = await live.get(`/v1/qrcodes/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ error: { code: 'not_found', message: 'There is no such QR code.' } });
  });
});
