import { describe, expect, test } from 'vitest';
import { append } from '../../src/log/append.ts';
import { readStream } from '../../src/log/read.ts';
import { created } from '../support/api.ts';
import { atOnce, blamedFields, countStatuses } from '../support/http.ts';
import { useService } from '../support/service.ts';

let now = new Date('2026-03-01T09:30:00.000Z');
const service = useService({ projections: false, clock: () => now });

async function aCode(fields: Record<string, unknown> = {}) {
  now = new Date(now.getTime() + 1_000);
  const { live } = await service.account();
  const code = await created(live, { style: { dotsType: 'dots' }, ...fields });
  now = new Date(now.getTime() + 1_000);
  return { live, code, path: `/v1/qrcodes/${code.id}` };
}

describe('happy', () => {
  test.each([
    ['the name', { name: 'New' }],
    ['the destination', { destination_url: 'https://example.com/new' }],
    ['both, and active false', { name: 'New', destination_url: 'https://example.com/new', active: false }],
  ])('%s: returns the full code, with all other fields unchanged', async (_, change) => {
    const { live, code, path } = await aCode();
    const { status, body } = await live.patch(path, change);
    expect(status).toBe(200);
    const isPaused = 'active' in change;
    expect(body).toEqual({
      ...code,
      ...change,
      status: isPaused ? 'paused' : 'active',
      active: !isPaused,
      updated_at: now.toISOString(),
    });
    expect((await live.get(path)).body).toEqual({
      ...body,
      version: 1 + Object.keys(change).length,
      availability: 'live',
    });
  });

  test('a name is trimmed', async () => {
    const { live, path } = await aCode();
    expect((await live.patch(path, { name: '  New ' })).body.name).toBe('New');
  });

  test.each([
    ['the same name', { name: 'Menu' }],
    ['the same name between spaces', { name: ' Menu ' }],
    ['the same destination', { destination_url: 'https://example.com/menu' }],
    ['the same active', { active: true }],
    ['all of these', { name: 'Menu', destination_url: 'https://example.com/menu', active: true }],
  ])('%s changes nothing: no event, the same updated_at', async (_, change) => {
    const { live, code, path } = await aCode();
    const response = await live.patch(path, change);
    expect(response.status).toBe(200);
    expect(response.body).toEqual(code);
    expect(await readStream(service.database.sql, code.id)).toHaveLength(1);
  });

  test('appends events only for fields that change', async () => {
    const { live, code, path } = await aCode();
    await live.patch(path, { name: 'New', destination_url: 'https://example.com/menu', active: true });
    expect((await readStream(service.database.sql, code.id)).map(({ type }) => type)).toEqual([
      'code_created',
      'code_renamed',
    ]);
  });
});

describe('error', () => {
  test.each([
    ['an empty object', {}, ['body']],
    ['a style', { style: { dotsType: 'square' } }, ['style']],
    ['a short code', { short_code: 'other' }, ['short_code']],
    ['an id', { id: 'qr_1' }, ['id']],
    ['a status', { status: 'paused' }, ['status']],
    ['scan counts', { total_scans: 1_000, unique_scans: 1 }, ['total_scans', 'unique_scans']],
    ['an unknown field', { colour: 'red' }, ['colour']],
    ['an unknown and a valid field', { name: 'New', colour: 'red' }, ['colour']],
    ['an own __proto__', JSON.parse('{"__proto__": {"active": false}}'), ['__proto__']],
    ['an empty name', { name: '' }, ['name']],
    ['a name of 256 characters', { name: 'n'.repeat(256) }, ['name']],
    ['a name that is null', { name: null }, ['name']],
    ['another scheme', { destination_url: 'ftp://example.com' }, ['destination_url']],
    ['no destination', { destination_url: null }, ['destination_url']],
    ['active as a string', { active: 'false' }, ['active']],
    ['active as a number', { active: 0 }, ['active']],
    ['active as null', { active: null }, ['active']],
    ['two errors', { name: '', destination_url: 'x' }, ['name', 'destination_url']],
  ])('%s: 400 that names the field, and the code is unchanged', async (_, change, invalidFields) => {
    const { live, code, path } = await aCode();
    const response = await live.patch(path, change);
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe('invalid_request');
    expect(blamedFields(response)).toEqual(invalidFields);
    expect((await live.get(path)).body).toEqual({ ...code, version: 1, availability: 'live' });
  });

  test.each([
    [
      { style: {} },
      'style is fixed after creation; use POST /v1/qrcodes/:id/duplicate to create a copy with another style.',
    ],
    [
      { short_code: 'x' },
      'short_code is fixed after creation; use POST /v1/qrcodes/:id/duplicate to create a copy with another short code.',
    ],
    [{ status: 'paused' }, 'status cannot be set directly; use active (true resumes or publishes, false pauses).'],
    [{ total_scans: 1 }, 'total_scans is counted by the service: remove it.'],
    [{ destinationUrl: 'x' }, 'destinationUrl is not an accepted field: did you mean destination_url?'],
    [{ colour: 'x' }, 'colour is not an accepted field: remove it.'],
    [{ 'x.name': 'x' }, 'x.name is not an accepted field: remove it.'],
  ])('%j is refused with what to use instead', async (change, message) => {
    const { live, path } = await aCode();
    expect((await live.patch(path, change)).body.error.message).toBe(message);
  });

  test('every field of a code that cannot be changed is explained', async () => {
    const { live, code, path } = await aCode();
    const { name, destination_url, active, ...others } = code;
    const { details } = (await live.patch(path, others)).body.error;
    expect(details.map(({ field }: { field: string }) => field).sort()).toEqual(Object.keys(others).sort());
    for (const { message } of details) expect(message).not.toContain('is not an accepted field');
  });

  test('a destination on the service itself: 400', async () => {
    const { live, code, path } = await aCode();
    const response = await live.patch(path, { destination_url: code.short_url });
    expect(response.status).toBe(400);
    expect(response.body.error.message).toContain('loop');
  });

  test('an unknown code: 404', async () => {
    const { live } = await aCode();
    expect((await live.patch('/v1/qrcodes/qr_0000000000000000000000', { name: 'New' })).status).toBe(404);
  });
});

describe('concurrency', () => {
  test('each of 10 concurrent renames succeeds or gets 409', async () => {
    const { live, code, path } = await aCode();
    const responses = await atOnce(10, (i) => live.patch(path, { name: `Name ${i}` }));
    const { 200: won = 0, 409: lost = 0, ...others } = countStatuses(responses);
    expect(others).toEqual({});
    expect(won).toBeGreaterThan(0);
    for (const { status, body } of responses) if (status === 409) expect(body.error.code).toBe('conflict');
    const events = await readStream(service.database.sql, code.id);
    expect(events.map(({ version }) => version)).toEqual(Array.from({ length: won + 1 }, (_, i) => i + 1));
    expect(won + lost).toBe(10);
    expect(events.at(-1), 'the last event decides').toMatchObject({ data: { to: (await live.get(path)).body.name } });
  });

  test('a change that loses the race twice: 409, and the code is unchanged', async () => {
    const { live, code, path } = await aCode();
    // An event that is missing from current state: each attempt to append version 2 conflicts with it.
    const event = { type: 'code_paused', data: {} } as const;
    await service.database.sql.begin((tx) =>
      append(tx, [{ stream: code.id, version: 2, event }], { actor: 'operator', now }),
    );
    const { status, body } = await live.patch(path, { name: 'New' });
    expect(status).toBe(409);
    expect(body.error.code).toBe('conflict');
    expect((await live.get(path)).body).toEqual({ ...code, version: 1, availability: 'live' });
    expect(await readStream(service.database.sql, code.id)).toHaveLength(2);
  });

  test('concurrent changes of different fields both take effect', async () => {
    const { live, path } = await aCode();
    const [first, second] = await Promise.all([
      live.patch(path, { name: 'New' }),
      live.patch(path, { destination_url: 'https://example.com/new' }),
    ]);
    expect([first?.status, second?.status]).toEqual([200, 200]);
    expect((await live.get(path)).body).toMatchObject({ name: 'New', destination_url: 'https://example.com/new' });
  });

  test('after a concurrent change and delete the code is deleted', async () => {
    const { live, path } = await aCode();
    const [patched, deleted] = await Promise.all([live.patch(path, { name: 'New' }), live.delete(path)]);
    expect(patched?.status).toBeOneOf([200, 404]);
    expect(deleted?.status).toBe(200);
    expect((await live.get(path)).status).toBe(404);
  });
});
