import { describe, expect, test } from 'vitest';
import { readStream } from '../../src/log/read.ts';
import { type Api, created, type Json } from '../support/api.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });

type Status = 'active' | 'paused' | 'draft';

/** Creates a code and brings it into a status through the API. */
async function codeIn(live: Api, status: Status): Promise<Json> {
  const body = await created(live, status === 'draft' ? { status } : {});
  return status === 'paused' ? (await live.patch(`/v1/qrcodes/${body.id}`, { active: false })).body : body;
}

const eventsOf = async (id: string) => (await readStream(service.database.sql, id)).map(({ type }) => type);

describe('status and active', () => {
  test.each([
    ['active', true],
    ['paused', false],
    ['draft', false],
  ] as const)('a code that is %s has active %s in every read', async (status, active) => {
    const { live } = await service.account();
    const code = await codeIn(live, status);
    expect(code).toMatchObject({ status, active });
    expect((await live.get(`/v1/qrcodes/${code.id}`)).body).toMatchObject({ status, active });
    expect((await live.get(`/v1/qrcodes?status=${status}`)).body.data).toMatchObject([{ id: code.id, status }]);
  });
});

describe('transitions', () => {
  test.each([
    ['active', false, 'paused', 'code_paused'],
    ['paused', true, 'active', 'code_resumed'],
    ['draft', true, 'active', 'code_published'],
  ] as const)('%s, PATCH active %s: %s, event %s', async (from, active, to, event) => {
    const { live } = await service.account();
    const { id } = await codeIn(live, from);
    const response = await live.patch(`/v1/qrcodes/${id}`, { active });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ status: to, active });
    expect((await eventsOf(id)).at(-1)).toBe(event);
  });

  test.each([
    ['active', true],
    ['paused', false],
    ['draft', false],
  ] as const)('%s, PATCH active %s: unchanged, no event', async (from, active) => {
    const { live } = await service.account();
    const code = await codeIn(live, from);
    const events = await eventsOf(code.id);
    const response = await live.patch(`/v1/qrcodes/${code.id}`, { active });
    expect(response.status).toBe(200);
    expect(response.body).toEqual(code);
    expect(await eventsOf(code.id)).toEqual(events);
  });

  test.each(['active', 'paused', 'draft'] as const)('%s, DELETE: deleted', async (from) => {
    const { live } = await service.account();
    const { id } = await codeIn(live, from);
    expect((await live.delete(`/v1/qrcodes/${id}`)).body).toEqual({ deleted: true, id });
    expect((await live.get(`/v1/qrcodes/${id}`)).status).toBe(404);
    expect((await eventsOf(id)).at(-1)).toBe('code_deleted');
  });
});

describe('a draft', () => {
  test('can be renamed and get a new destination, and stays a draft', async () => {
    const { live } = await service.account();
    const { id } = await codeIn(live, 'draft');
    const change = { name: 'Later', destination_url: 'https://example.com/later' };
    expect((await live.patch(`/v1/qrcodes/${id}`, change)).body).toMatchObject({ ...change, status: 'draft' });
  });

  test('can be paused once published, and is not a draft again', async () => {
    const { live } = await service.account();
    const { id } = await codeIn(live, 'draft');
    await live.patch(`/v1/qrcodes/${id}`, { active: true });
    expect((await live.patch(`/v1/qrcodes/${id}`, { active: false })).body.status).toBe('paused');
    expect((await live.get('/v1/qrcodes?status=draft')).body.data).toEqual([]);
  });

  test('status "active" can be given on create', async () => {
    const { live } = await service.account();
    expect((await created(live, { status: 'active' })).status).toBe('active');
  });

  test('status cannot be patched', async () => {
    const { live } = await service.account();
    const { id } = await codeIn(live, 'draft');
    const response = await live.patch(`/v1/qrcodes/${id}`, { status: 'active' });
    expect(response.status).toBe(400);
    expect(response.body.error.details).toMatchObject([{ field: 'status' }]);
  });
});
