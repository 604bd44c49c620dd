import { describe, expect, test } from 'vitest';
import { readStream } from '../../src/log/read.ts';
import { created, newCode } from '../support/api.ts';
import { atOnce, blamedFields, countStatuses } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });

describe('happy', () => {
  test('name and destination create an active code with every field of the interface', async () => {
    const { live } = await service.account();
    const before = Date.now();
    const { status, body } = await live.post('/v1/qrcodes', newCode());

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^qr_[0-9A-Za-z]{20,}$/),
      name: 'Menu',
      destination_url: 'https://example.com/menu',
      short_code: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{7}$/),
      short_url: `${service.urls[0]}/${body.short_code}`,
      image_url: `${service.urls[0]}/images/${body.id}/public`,
      status: 'active',
      active: true,
      total_scans: 0,
      unique_scans: 0,
      created_at: body.updated_at,
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      style: {},
    });
    expect(Date.parse(body.created_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(body.created_at)).toBeLessThanOrEqual(Date.now());
  });

  test('the creation is the first event of the code’s stream, with the key as actor', async () => {
    const { live, id } = await service.account();
    const keys = await live.get('/v1/account/keys');
    const body = await created(live, { short_code: 'in-the-log' });
    expect(await readStream(service.database.sql, body.id)).toMatchObject([
      {
        type: 'code_created',
        version: 1,
        actor: keys.body.data.find(({ mode }: { mode: string }) => mode === 'live').id,
        data: { account: id, mode: 'live', name: 'Menu', short_code: 'in-the-log', status: 'active', style: {} },
      },
    ]);
  });

  test('the name is trimmed and otherwise unchanged', async () => {
    const { live } = await service.account();
    const body = await created(live, { name: ' \n Café “楽”  🍋 <b>\t' });
    expect(body.name).toBe('Café “楽”  🍋 <b>');
  });

  test.each(['HTTPS://Example.COM:443/A/../b?q=ü&x=%zz#frag', 'https://café.example/楽?a=1&a=2', 'http://203.0.113.7'])(
    'returns the destination exactly as given: %s',
    async (destination_url) => {
      const { live } = await service.account();
      const body = await created(live, { destination_url });
      expect(body.destination_url).toBe(destination_url);
      expect((await live.get(`/v1/qrcodes/${body.id}`)).body.destination_url).toBe(destination_url);
    },
  );

  test('returns the style as given: only the given fields, colors in either case', async () => {
    const { live } = await service.account();
    const style = { cornersDotType: 'dot', dotsType: 'classy-rounded', dotsColor: '#aB12cD' };
    const created = await live.post('/v1/qrcodes', newCode({ style }));
    expect(created.body.style).toEqual(style);
    expect(created.body).not.toHaveProperty('warnings');
    expect((await live.get(`/v1/qrcodes/${created.body.id}`)).body.style).toEqual(style);
  });

  test('accepts a style that is hard to scan, with warnings that name the field', async () => {
    const { live } = await service.account();
    const { status, body } = await live.post('/v1/qrcodes', newCode({ style: { dotsColor: '#EEEEEE' } }));
    expect(status).toBe(201);
    expect(body.warnings).toEqual([{ field: 'style.dotsColor', message: expect.stringContaining('contrast') }]);
    expect((await live.get(`/v1/qrcodes/${body.id}`)).body, 'only create warns').not.toHaveProperty('warnings');
  });

  test('a given short code is kept as given, and found in any case; its scans are recorded for that code', async () => {
    const { live } = await service.account();
    const follow = (shortCode: string) => service.client(0).get(`/${shortCode}`);
    for (const shortCode of ['chosen-one', 'CHOSEN-ONE']) expect((await follow(shortCode)).status).toBe(404);
    const body = await created(live, { short_code: 'Chosen-One' });
    expect(body.short_url).toBe(`${service.urls[0]}/Chosen-One`);
    for (const shortCode of ['Chosen-One', 'chosen-one', 'CHOSEN-ONE'])
      expect((await follow(shortCode)).headers.get('location'), shortCode).toBe(body.destination_url);
    await service.allStored();
    const scans = await service.database.sql`SELECT code FROM scans WHERE code = ${body.id}`;
    expect(scans).toHaveLength(3);
    await live.patch(`/v1/qrcodes/${body.id}`, { destination_url: 'https://example.com/2' });
    expect((await follow('CHOSEN-ONE')).headers.get('location')).toBe('https://example.com/2');
    await live.delete(`/v1/qrcodes/${body.id}`);
    expect((await follow('CHOSEN-ONE')).status).toBe(410);
  });

  test('a generated short code is found only exactly', async () => {
    const { live } = await service.account();
    const body = await created(live);
    const swapped = body.short_code.replace(/[a-z]/gi, (letter: string) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    expect(swapped).not.toBe(body.short_code);
    expect((await service.client(0).get(`/${swapped}`)).status).toBe(404);
    expect((await service.client(0).get(`/${body.short_code}`)).status).toBe(302);
  });
});

describe('error', () => {
  test.each([
    ['no name', { name: undefined }, ['name']],
    ['a name of spaces', { name: '   ' }, ['name']],
    ['a name that is not a string', { name: 7 }, ['name']],
    ['a name that is null', { name: null }, ['name']],
    ['no destination', { destination_url: undefined }, ['destination_url']],
    ['a destination that is null', { destination_url: null }, ['destination_url']],
    ['a destination that is not absolute', { destination_url: 'menu' }, ['destination_url']],
    ['another scheme', { destination_url: 'javascript:alert(1)' }, ['destination_url']],
    ['a short code that is too short', { short_code: 'ab' }, ['short_code']],
    ['a short code that is null', { short_code: null }, ['short_code']],
    ['a reserved short code', { short_code: 'Swagger' }, ['short_code']],
    ['an initial status that is not allowed', { status: 'paused' }, ['status']],
    ['a style that is not an object', { style: 'round' }, ['style']],
    ['a style that is a list', { style: [] }, ['style']],
    ['an unknown style field', { style: { dotsSize: 3 } }, ['style.dotsSize']],
    ['an unknown dot type', { style: { dotsType: 'stars' } }, ['style.dotsType']],
    ['a short color', { style: { dotsColor: '#123' } }, ['style.dotsColor']],
    ['a color with a line break', { style: { backgroundColor: '#123456\n' } }, ['style.backgroundColor']],
    ['an unknown field', { colour: 'red' }, ['colour']],
    ['fields that the service assigns', { id: 'qr_1', total_scans: 5 }, ['id', 'total_scans']],
    ['a field name with / and ~', { 'a/b~c': 1 }, ['a/b~c']],
    ['several errors', { name: '', destination_url: 'x', colour: 1 }, ['colour', 'name', 'destination_url']],
  ])('%s: 400 that names the field', async (_, fields, invalidFields) => {
    const { live } = await service.account();
    const response = await live.post('/v1/qrcodes', newCode(fields));
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe('invalid_request');
    expect(blamedFields(response)).toEqual(invalidFields);
    for (const { field, message } of response.body.error.details) expect(message).toContain(field);
    expect((await live.get('/v1/qrcodes')).body.pagination.total, 'nothing was created').toBe(0);
  });

  test.each(['[]', '"code"', '7', 'null', 'true'])('a body of %s: 400', async (body) => {
    const { live } = await service.account();
    const response = await live.send('/v1/qrcodes', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(response.body.error.message).toBe('The body must be an object.');
  });

  test('a destination on the service’s own short links: 400', async () => {
    const { live } = await service.account();
    const response = await live.post('/v1/qrcodes', newCode({ destination_url: `${service.urls[0]}/anything` }));
    expect(response.status).toBe(400);
    expect(response.body.error.message).toContain('loop');
  });

  test('a taken short code: 409', async () => {
    const { live } = await service.account();
    await created(live, { short_code: 'once-only' });
    const response = await live.post('/v1/qrcodes', newCode({ short_code: 'once-only' }));
    expect(response.status).toBe(409);
    expect(response.body.error).toEqual({
      code: 'short_code_taken',
      message: 'short_code "once-only" is taken; choose another.',
      details: [{ field: 'short_code', message: 'short_code "once-only" is taken; choose another.' }],
    });
  });
});

describe('security', () => {
  test('a short code that differs only in case is taken, also after delete and for another account', async () => {
    const [first, second] = [await service.account(), await service.account()];
    const body = await created(first.live, { short_code: 'Letter-Case' });
    for (const client of [first.live, second.test]) {
      const response = await client.post('/v1/qrcodes', newCode({ short_code: 'letter-CASE' }));
      expect([response.status, response.body.error.code]).toEqual([409, 'short_code_taken']);
      expect(response.body.error.message).toBe(
        'short_code "letter-CASE" is taken by "Letter-Case", which differs only in case; choose another.',
      );
      if (client === first.live) await first.live.delete(`/v1/qrcodes/${body.id}`);
    }
  });

  test('of 20 concurrent creates with short codes that differ only in case, one succeeds', async () => {
    const [first, second] = [await service.account(), await service.account()];
    const spelled = (i: number) =>
      [...'wanted-in-case'].map((letter, bit) => ((i >> (bit % 5)) & 1 ? letter.toUpperCase() : letter)).join('');
    const responses = await atOnce(20, (i) =>
      (i % 2 ? first.live : second.test).post('/v1/qrcodes', newCode({ short_code: spelled(i) })),
    );
    expect(countStatuses(responses)).toEqual({ 201: 1, 409: 19 });
    for (const { status, body } of responses) if (status === 409) expect(body.error.code).toBe('short_code_taken');
  });

  test('a short code is never reassigned: not after delete, not to another account or mode', async () => {
    const [first, second] = [await service.account(), await service.account()];
    const body = await created(first.live, { short_code: 'printed' });
    await first.live.delete(`/v1/qrcodes/${body.id}`);
    for (const client of [first.live, first.test, second.live, second.test]) {
      const response = await client.post('/v1/qrcodes', newCode({ short_code: 'printed' }));
      expect(response.body.error.code).toBe('short_code_taken');
    }
  });

  test('of 20 concurrent creates with the same short code, one succeeds and 19 get 409', async () => {
    const [first, second] = [await service.account(), await service.account()];
    const responses = await atOnce(20, (i) =>
      (i % 2 ? first.live : second.test).post('/v1/qrcodes', newCode({ short_code: 'wanted-by-all' })),
    );
    expect(countStatuses(responses)).toEqual({ 201: 1, 409: 19 });
    for (const { status, body } of responses) if (status === 409) expect(body.error.code).toBe('short_code_taken');
  });

  test('__proto__ and constructor are unknown fields', async () => {
    const { live } = await service.account();
    const response = await live.send('/v1/qrcodes', {
      method: 'POST',
      body: '{"name":"x","destination_url":"https://e.com","__proto__":{"status":"draft"},"constructor":{"a":1}}',
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(blamedFields(response)).toEqual(['__proto__', 'constructor']);
  });
});
