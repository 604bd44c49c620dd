import { describe, expect, test } from 'vitest';
import { created, newCode } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { useService } from '../support/service.ts';

const service = useService({
  instances: 2,
  config: { publicUrl: 'https://qr.example.com' },
});

describe('two instances on one database', () => {
  test('a write on one is read on the other at once', async () => {
    const { keys } = await service.account();
    const [one, two] = [service.client(0, keys.live), service.client(1, keys.live)];

    const code = await created(one);
    const path = `/v1/qrcodes/${code.id}`;
    expect((await two.get(path)).body).toEqual({ ...code, version: 1, availability: 'live' });
    expect((await two.get('/v1/qrcodes')).body.data).toMatchObject([{ id: code.id }]);

    const { body: changed } = await two.patch(path, { name: 'Changed', active: false });
    expect((await one.get(path)).body).toEqual({ ...changed, version: 3, availability: 'live' });
    expect((await one.get(`${path}/history`)).body).toEqual((await two.get(`${path}/history`)).body);

    await one.delete(path);
    expect((await two.get(path)).status).toBe(404);
    expect((await two.get('/v1/qrcodes')).body.pagination.total).toBe(0);
  });

  test('a short code that one has assigned is refused by the other', async () => {
    const { keys } = await service.account();
    await created(service.client(0, keys.live), { short_code: 'only-one' });
    const response = await service.client(1, keys.live).post('/v1/qrcodes', newCode({ short_code: 'only-one' }));
    expect(response.body.error.code).toBe('short_code_taken');
  });

  test('a short code that one has assigned is found by the other in any case, at once', async () => {
    const { keys } = await service.account();
    const [one, two] = [service.client(0, keys.live), service.client(1, keys.live)];
    for (const client of [one, two]) expect((await client.get('/EITHER-ONE')).status, 'cached as unknown').toBe(404);
    await created(one, { short_code: 'either-one' });
    expect((await one.get('/EITHER-ONE')).status).toBe(302);
    await eventually(async () => expect((await two.get('/EITHER-ONE')).status).toBe(302));
    const response = await two.post('/v1/qrcodes', newCode({ short_code: 'Either-One' }));
    expect(response.body.error.code).toBe('short_code_taken');
  });

  test('both return the same URLs', async () => {
    const { keys } = await service.account();
    for (const instance of [0, 1]) {
      const { id, short_code, short_url, image_url } = await created(service.client(instance, keys.live));
      expect(short_url).toBe(`https://qr.example.com/${short_code}`);
      expect(image_url).toBe(`https://qr.example.com/images/${id}/public`);
    }
  });
});
