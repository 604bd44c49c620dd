import { describe, expect, test } from 'vitest';
import { blamedFields } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const variant = (fields: Record<string, unknown> = {}) => ({
  name: 'Menu',
  type: 'url',
  destination: 'https://example.com/menu',
  ...fields,
});

describe('the variant shape', () => {
  test('creates a code and returns the full code plus the variant fields', async () => {
    const { live } = await service.account();
    const { status, body } = await live.post('/v1/qrcodes', variant());
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Menu',
      destination_url: 'https://example.com/menu',
      status: 'active',
      active: true,
      total_scans: 0,
      unique_scans: 0,
      type: 'url',
      destination: 'https://example.com/menu',
      scans: 0,
    });
  });

  test('is an ordinary code in later reads', async () => {
    const { live } = await service.account();
    const { body } = await live.post('/v1/qrcodes', variant());
    const { type, destination, scans, ...code } = body;
    expect({ type, destination, scans }).toEqual({ type: 'url', destination: 'https://example.com/menu', scans: 0 });
    expect((await live.get(`/v1/qrcodes/${body.id}`)).body).toEqual({ ...code, version: 1, availability: 'live' });
  });

  test.each([
    ['destination alone', { type: undefined }],
    ['type beside destination_url', { destination: undefined, destination_url: 'https://example.com/menu' }],
    ['both spellings with the same value', { destination_url: 'https://example.com/menu' }],
  ])('%s is accepted, with the same response', async (_, fields) => {
    const { live } = await service.account();
    const { status, body } = await live.post('/v1/qrcodes', variant(fields));
    expect(status).toBe(201);
    expect(body).toMatchObject({ type: 'url', destination: 'https://example.com/menu', scans: 0 });
  });

  test.each([
    ['another type', { type: 'text' }, ['type']],
    ['no type at all', { type: null }, ['type']],
    ['two destinations', { destination_url: 'https://example.com/other' }, ['destination']],
    ['no destination', { destination: undefined }, ['destination_url']],
    ['a destination that leads nowhere', { destination: 'menu' }, ['destination']],
    ['a destination that is no string', { destination: 7 }, ['destination']],
  ])('%s: 400', async (_, fields, invalidFields) => {
    const { live } = await service.account();
    const response = await live.post('/v1/qrcodes', variant(fields));
    expect(response.status).toBe(400);
    expect(blamedFields(response)).toEqual(invalidFields);
  });

  test('PATCH refuses the variant fields', async () => {
    const { live } = await service.account();
    const { body } = await live.post('/v1/qrcodes', variant());
    const response = await live.patch(`/v1/qrcodes/${body.id}`, { destination: 'https://example.com/new' });
    expect(response.status).toBe(400);
    expect(blamedFields(response)).toEqual(['destination']);
  });
});
