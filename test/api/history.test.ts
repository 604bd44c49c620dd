import { describe, expect, test } from 'vitest';
import { createLogger } from '../../src/lib/logger.ts';
import { created, type Json } from '../support/api.ts';
import { useService } from '../support/service.ts';

let now = new Date('2026-03-01T09:30:00.000Z');
// One of the tests causes an error on purpose, which is not printed.
const service = useService({ projections: false, clock: () => now, log: createLogger('silent', false) });
const later = () => {
  now = new Date(now.getTime() + 60_000);
};

describe('the history of a code', () => {
  test('lists every change, newest first: what, when, from, to, and by which key', async () => {
    const account = await service.account();
    const { live } = account;
    const { data: keys } = (await live.get('/v1/account/keys')).body;
    const first = keys.find(({ mode }: Json) => mode === 'live').id;
    const second = (await live.post('/v1/account/keys', { name: 'Second', mode: 'live' })).body;
    const bySecond = service.client(0, second.key);

    const started = now.getTime();
    const { id, short_code } = await created(live, { status: 'draft' });
    const path = `/v1/qrcodes/${id}`;
    later();
    await bySecond.patch(path, { active: true });
    later();
    await live.patch(path, { name: 'New', destination_url: 'https://example.com/new' });
    later();
    await bySecond.patch(path, { active: false });
    later();
    await live.patch(path, { active: true });

    const { body } = await live.get(`${path}/history`);
    const at = (minutes: number) => new Date(started + minutes * 60_000).toISOString();
    const entry = (
      version: number,
      minutes: number,
      key_id: string,
      event: string,
      field: string | null,
      from: unknown,
      to: unknown,
    ) => ({
      id: expect.stringMatching(/^evt_/),
      event,
      version,
      timestamp: at(minutes),
      field,
      from,
      to,
      key_id,
      actor: key_id,
      actor_name: key_id === first ? 'Live key' : 'Second',
    });
    const made = { name: 'Menu', destination_url: 'https://example.com/menu', short_code, status: 'draft', style: {} };
    expect(body.data).toEqual([
      entry(6, 4, first, 'code_resumed', 'status', 'paused', 'active'),
      entry(5, 3, second.id, 'code_paused', 'status', 'active', 'paused'),
      entry(
        4,
        2,
        first,
        'destination_changed',
        'destination_url',
        'https://example.com/menu',
        'https://example.com/new',
      ),
      entry(3, 2, first, 'code_renamed', 'name', 'Menu', 'New'),
      entry(2, 1, second.id, 'code_published', 'status', 'draft', 'active'),
      entry(1, 0, first, 'code_created', null, null, made),
    ]);
    expect(body.pagination).toEqual({ page: 1, limit: 50, total: 6, total_pages: 1 });
  });

  test('is paged', async () => {
    const { live } = await service.account();
    const { id } = await created(live);
    for (const name of ['A', 'B', 'C', 'D']) await live.patch(`/v1/qrcodes/${id}`, { name });
    const page = async (query: string) => (await live.get(`/v1/qrcodes/${id}/history?${query}`)).body;
    const names = ({ data }: Json) => data.map(({ to }: Json) => to.name ?? to);
    expect(names(await page('limit=2'))).toEqual(['D', 'C']);
    expect(names(await page('limit=2&page=3'))).toEqual(['Menu']);
    expect(await page('limit=2&page=4')).toEqual({
      data: [],
      pagination: { page: 4, limit: 2, total: 5, total_pages: 3 },
    });
    for (const query of ['page=0', 'limit=0', 'limit=501', 'limit=x'])
      expect((await live.get(`/v1/qrcodes/${id}/history?${query}`)).status, query).toBe(400);
  });

  test('reads only the events of the page', async () => {
    const { live } = await service.account();
    const { id } = await created(live);
    for (const name of ['A', 'B', 'C']) await live.patch(`/v1/qrcodes/${id}`, { name });
    const { sql } = service.database;
    // An unreadable event fails the request if it is read.
    const setSchema = (schema: number) =>
      sql.begin(async (tx) => {
        await tx`ALTER TABLE events DISABLE TRIGGER USER`;
        await tx`UPDATE events SET schema = ${schema} WHERE stream = ${id} AND version = 2`;
        await tx`ALTER TABLE events ENABLE TRIGGER USER`;
      });
    await setSchema(99);
    const statusOf = async (query: string) => (await live.get(`/v1/qrcodes/${id}/history?${query}`)).status;
    expect(await statusOf('limit=2')).toBe(200);
    expect(await statusOf('limit=1&page=4')).toBe(200);
    expect(await statusOf('limit=2&page=2')).toBe(500);
    await setSchema(1);
    expect(await statusOf('limit=2&page=2')).toBe(200);
  });

  test('returns 404 for an unknown code', async () => {
    const { live } = await service.account();
    expect((await live.get('/v1/qrcodes/qr_0000000000000000000000/history')).status).toBe(404);
  });
});
