import { describe, expect, test } from 'vitest';
import { setPlan } from '../../src/accounts/accounts.ts';
import { readStream } from '../../src/log/read.ts';
import { created, type Json, newCode } from '../support/api.ts';
import { atOnce, countStatuses } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const many = (count: number, fields: (i: number) => Record<string, unknown> = () => ({})) =>
  Array.from({ length: count }, (_, i) => newCode({ name: `Table ${i}`, ...fields(i) }));

const errorFields = (response: { body: Json }) =>
  response.body.error.details.map(({ index, field }: { index: number; field: string }) => [index, field]);

describe('happy', () => {
  test('creates 1,000 codes in the given order, each with its own id and short code', async () => {
    const { live } = await service.account();
    const { status, body } = await live.post('/v1/qrcodes/bulk', { qrcodes: many(1_000) });

    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data.map(({ name }: Json) => name)).toEqual(many(1_000).map(({ name }) => name));
    expect(new Set(body.data.map(({ id }: Json) => id)).size).toBe(1_000);
    expect(new Set(body.data.map(({ short_code }: Json) => short_code)).size).toBe(1_000);
    const { data, pagination } = (await live.get('/v1/qrcodes?limit=100')).body;
    expect(pagination.total).toBe(1_000);
    expect(
      data.map(({ name }: Json) => name),
      'newest first: the last given',
    ).toEqual(
      many(1_000)
        .map(({ name }) => name)
        .reverse()
        .slice(0, 100),
    );
  });

  test('items may have different short codes, statuses, styles and variant shapes', async () => {
    const { live } = await service.account();
    const { body } = await live.post('/v1/qrcodes/bulk', {
      qrcodes: [
        newCode({ short_code: 'bulk-chosen' }),
        newCode({ status: 'draft' }),
        newCode({ style: { dotsColor: '#EEEEEE' } }),
        { name: 'Variant', type: 'url', destination: 'https://example.com/v' },
      ],
    });
    expect(body.data).toMatchObject([
      { short_code: 'bulk-chosen', status: 'active' },
      { status: 'draft', active: false },
      { style: { dotsColor: '#EEEEEE' }, warnings: [{ field: 'style.dotsColor' }] },
      { type: 'url', destination: 'https://example.com/v', scans: 0 },
    ]);
    expect(body.data[0]).not.toHaveProperty('type');
  });

  test('each code has its own stream in the log', async () => {
    const { live } = await service.account();
    const { body } = await live.post('/v1/qrcodes/bulk', { qrcodes: many(3) });
    for (const { id, name } of body.data)
      expect(await readStream(service.database.sql, id)).toMatchObject([{ type: 'code_created', data: { name } }]);
  });
});

describe('error', () => {
  const nothingIn = async (client: { get(path: string): Promise<{ body: Json }> }) =>
    expect((await client.get('/v1/qrcodes')).body.pagination.total, 'nothing was created').toBe(0);

  test('lists every error of every item with its index, and creates nothing', async () => {
    const { live } = await service.account();
    const response = await live.post('/v1/qrcodes/bulk', {
      qrcodes: [
        newCode(),
        newCode({ name: '', destination_url: 'nowhere' }),
        'no object',
        newCode({ short_code: 'twice' }),
        newCode({ colour: 'red' }),
        newCode({ short_code: 'twice' }),
        null,
        newCode({ short_code: 'Twice' }),
      ],
    });
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe('invalid_request');
    expect(response.body.error.message).toMatch(/^qrcodes\[1\]: .* \(and 6 more, see details\)$/);
    expect(errorFields(response)).toEqual([
      [1, 'name'],
      [1, 'destination_url'],
      [2, 'body'],
      [4, 'colour'],
      [5, 'short_code'],
      [6, 'body'],
      [7, 'short_code'],
    ]);
    expect(response.body.error.details.at(-1).message).toBe(
      'short_code "Twice" differs only in case from "twice", also in qrcodes; choose another.',
    );
    await nothingIn(live);
  });

  test('taken short codes: 409 with the index of each, and nothing is created', async () => {
    const [owner, { live }] = [await service.account(), await service.account()];
    await owner.live.post('/v1/qrcodes/bulk', {
      qrcodes: [newCode({ short_code: 'had-1' }), newCode({ short_code: 'had-2' })],
    });
    const response = await live.post('/v1/qrcodes/bulk', {
      qrcodes: [
        newCode(),
        newCode({ short_code: 'had-1' }),
        newCode({ short_code: 'free' }),
        newCode({ short_code: 'had-2' }),
      ],
    });
    expect(response.status).toBe(409);
    expect(response.body.error.code).toBe('short_code_taken');
    expect(errorFields(response)).toEqual([
      [1, 'short_code'],
      [3, 'short_code'],
    ]);
    await nothingIn(live);
    expect(
      (await live.post('/v1/qrcodes', newCode({ short_code: 'free' }))).status,
      'the free short code was not used',
    ).toBe(201);
  });

  test('lists invalid items and taken short codes together', async () => {
    const { live, test: other } = await service.account();
    await created(other, { short_code: 'had-3' });
    const response = await live.post('/v1/qrcodes/bulk', {
      qrcodes: [newCode({ short_code: 'had-3' }), newCode({ name: '' }), newCode()],
    });
    expect(response.status).toBe(400);
    expect(errorFields(response)).toEqual([
      [0, 'short_code'],
      [1, 'name'],
    ]);
  });

  test('quota exceeded: 403 with the items that exceed it, and nothing is created', async () => {
    const { live } = await service.account('pro');
    await live.post('/v1/qrcodes/bulk', { qrcodes: many(48) });
    const response = await live.post('/v1/qrcodes/bulk', { qrcodes: many(4) });
    expect(response.status).toBe(403);
    expect(response.body.error.code).toBe('quota_exceeded');
    expect(response.body.error.message).toContain('50 QR codes, and 48 exist');
    expect(errorFields(response)).toEqual([
      [2, 'qrcodes'],
      [3, 'qrcodes'],
    ]);
    expect((await live.get('/v1/account')).body.usage.qr_codes).toBe(48);
    expect((await live.post('/v1/qrcodes/bulk', { qrcodes: many(2) })).status, 'two codes still fit').toBe(201);
  });

  test('lists the item when a single one exceeds the quota', async () => {
    const { live, id } = await service.account();
    await live.post('/v1/qrcodes/bulk', { qrcodes: many(60) });
    await setPlan(service.database.sql, id, 'pro', new Date());
    const response = await live.post('/v1/qrcodes/bulk', { qrcodes: many(1) });
    expect(response.status).toBe(403);
    expect(errorFields(response)).toEqual([[0, 'qrcodes']]);
  });

  test.each([
    ['no item', { qrcodes: [] }, 'qrcodes'],
    ['1,001 items', { qrcodes: many(1_001) }, 'qrcodes'],
    ['not a list', { qrcodes: newCode() }, 'qrcodes'],
    ['an empty object', {}, 'qrcodes'],
    ['a misnamed list', { codes: many(1) }, 'codes'],
    ['a bare list', many(1), 'body'],
  ])('%s: 400', async (_, body, field) => {
    const { live } = await service.account();
    const response = await live.post('/v1/qrcodes/bulk', body);
    expect(response.status).toBe(400);
    expect(response.body.error.details.map((error: Json) => error.field)).toContain(field);
    await nothingIn(live);
  });
});

describe('security', () => {
  test('of 8 concurrent bulk calls with the same short code, one creates all its codes and 7 create none', async () => {
    const { live } = await service.account();
    const responses = await atOnce(8, () =>
      live.post('/v1/qrcodes/bulk', { qrcodes: [...many(4), newCode({ short_code: 'bulk-race' })] }),
    );
    expect(countStatuses(responses)).toEqual({ 201: 1, 409: 7 });
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(5);
  });

  test('GET, PATCH and DELETE of /v1/qrcodes/bulk do not find a code', async () => {
    const { live } = await service.account();
    expect((await live.get('/v1/qrcodes/bulk')).status).toBeOneOf([404, 405]);
    expect((await live.delete('/v1/qrcodes/bulk')).status).toBeOneOf([404, 405]);
  });
});
