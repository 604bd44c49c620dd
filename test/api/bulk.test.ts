import { describe, expect, test } from 'vitest';
import { setPlan } from '../../src/accounts/accounts.ts';
import { readStream } from '../../src/log/read.ts';
import { type Api, created, type Json, newCode } from '../support/api.ts';
import { givenDomain } from '../support/domains.ts';
import { atOnce, countStatuses } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const many = (count: number, fields: (i: number) => Record<string, unknown> = () => ({})) =>
  Array.from({ length: count }, (_, i) => newCode({ name: `Table ${i}`, ...fields(i) }));

const errorFields = (answer: { body: Json }) =>
  answer.body.error.details.map(({ index, field }: { index: number; field: string }) => [index, field]);

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
    const answer = await live.post('/v1/qrcodes/bulk', {
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
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe('invalid_request');
    expect(answer.body.error.message).toMatch(/^qrcodes\[1\]: .* \(and 6 more, see details\)$/);
    expect(errorFields(answer)).toEqual([
      [1, 'name'],
      [1, 'destination_url'],
      [2, 'body'],
      [4, 'colour'],
      [5, 'short_code'],
      [6, 'body'],
      [7, 'short_code'],
    ]);
    expect(answer.body.error.details.at(-1).message).toBe(
      'short_code "Twice" differs only in case from "twice", also in qrcodes; choose another.',
    );
    await nothingIn(live);
  });

  test('taken short codes: 409 with the index of each, and nothing is created', async () => {
    const [owner, { live }] = [await service.account(), await service.account()];
    await owner.live.post('/v1/qrcodes/bulk', {
      qrcodes: [newCode({ short_code: 'had-1' }), newCode({ short_code: 'had-2' })],
    });
    const answer = await live.post('/v1/qrcodes/bulk', {
      qrcodes: [
        newCode(),
        newCode({ short_code: 'had-1' }),
        newCode({ short_code: 'free' }),
        newCode({ short_code: 'had-2' }),
      ],
    });
    expect(answer.status).toBe(409);
    expect(answer.body.error.code).toBe('short_code_taken');
    expect(errorFields(answer)).toEqual([
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
    const answer = await live.post('/v1/qrcodes/bulk', {
      qrcodes: [newCode({ short_code: 'had-3' }), newCode({ name: '' }), newCode()],
    });
    expect(answer.status).toBe(400);
    expect(errorFields(answer)).toEqual([
      [0, 'short_code'],
      [1, 'name'],
    ]);
  });

  test('quota exceeded: 403 with the items that exceed it, and nothing is created', async () => {
    const { live } = await service.account('pro');
    await live.post('/v1/qrcodes/bulk', { qrcodes: many(48) });
    const answer = await live.post('/v1/qrcodes/bulk', { qrcodes: many(4) });
    expect(answer.status).toBe(403);
    expect(answer.body.error.code).toBe('quota_exceeded');
    expect(answer.body.error.message).toContain('50 QR codes, and 48 exist');
    expect(errorFields(answer)).toEqual([
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
    const answer = await live.post('/v1/qrcodes/bulk', { qrcodes: many(1) });
    expect(answer.status).toBe(403);
    expect(errorFields(answer)).toEqual([[0, 'qrcodes']]);
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
    const answer = await live.post('/v1/qrcodes/bulk', body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.map((error: Json) => error.field)).toContain(field);
    await nothingIn(live);
  });
});

describe('security', () => {
  test('of 8 concurrent bulk calls with the same short code, one creates all its codes and 7 create none', async () => {
    const { live } = await service.account();
    const answers = await atOnce(8, () =>
      live.post('/v1/qrcodes/bulk', { qrcodes: [...many(4), newCode({ short_code: 'bulk-race' })] }),
    );
    expect(countStatuses(answers)).toEqual({ 201: 1, 409: 7 });
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(5);
  });

  test('GET, PATCH and DELETE of /v1/qrcodes/bulk do not find a code', async () => {
    const { live } = await service.account();
    expect((await live.get('/v1/qrcodes/bulk')).status).toBeOneOf([404, 405]);
    expect((await live.delete('/v1/qrcodes/bulk')).status).toBeOneOf([404, 405]);
  });
});

describe('an upload of links of another service', () => {
  const upload = async (api: Api, query: string, body: string, type = 'text/csv') => {
    const answer = await api.send(`/v1/qrcodes/import${query}`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    const lines =
      answer.status === 200
        ? answer.text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [];
    return { status: answer.status, error: answer.body.error, links: lines.slice(0, -1), totals: lines.at(-1) };
  };
  const rows = (count: number) =>
    Array.from({ length: count }, (_, i) => `https://bit.ly/up-${i},https://example.com/${i},a`);
  const bitly = (lines: string[]) => ['Bitlink,Long URL,Color', ...lines].join('\n');

  test('creates nothing in a dry run, then each link once, and names every one', async () => {
    const { live, id } = await service.account();
    const file = bitly([...rows(250), 'https://bit.ly/a,https://example.com,b']);
    const totals = {
      source: 'bitly',
      imported: 250,
      unchanged: 0,
      refused: 1,
      incomplete: 0,
      unread_columns: ['Color'],
    };
    const dry = await upload(live, '?dry_run=true', file);
    expect(dry.totals).toEqual({ ...totals, dry_run: true });
    expect(dry.links[0]).toMatchObject({ outcome: 'imported', qr_id: null, short_url: `${service.urls[0]}/up-0` });
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(0);

    const real = await upload(live, '', file);
    expect(real.totals).toEqual({ ...totals, dry_run: false });
    expect(real.links.at(-1)).toMatchObject({ link: 'bit.ly/a', outcome: 'refused', qr_id: null });
    expect(real.links.at(-1).reasons[0]).toContain('short code "a"');
    const [{ qr_id, link, destination_url }] = real.links;
    expect([link, destination_url]).toEqual(['bit.ly/up-0', 'https://example.com/0']);
    const answer = await fetch(`${service.urls[0]}/up-0`, { redirect: 'manual' });
    expect(answer.headers.get('location')).toBe('https://example.com/0');
    const [created] = await readStream(service.database.sql, qr_id);
    expect(created).toMatchObject({ actor: expect.stringMatching(/^key_/), data: { account: id } });

    const again = await upload(live, '?source=bitly', file);
    expect(again.totals).toMatchObject({ imported: 0, unchanged: 250, refused: 1 });
    expect(again.links[0]).toMatchObject({ outcome: 'unchanged', qr_id });
  });

  test('takes JSON and a domain of the account, and no other domain', async () => {
    const { live, id } = await service.account();
    const { name } = await givenDomain(service, id, 'upload.example.com');
    const item = { address: 'up-json', target: 'https://example.com/', description: 'Menu', visit_count: 3 };
    const file = JSON.stringify([{ total: 1, data: [item] }]);
    const { links, totals } = await upload(live, `?domain=${name}`, file, 'application/json');
    expect(totals).toMatchObject({ source: 'kutt', imported: 1 });
    const { body } = await live.get(`/v1/qrcodes/${links[0].qr_id}`);
    expect(body).toMatchObject({ domain: name, short_code: 'up-json', imported_scans: 3 });
    const other = await upload(live, '?domain=other.example.com', file, 'application/json');
    expect([other.status, other.error.details[0].field]).toEqual([400, 'domain']);
  });

  test('is bounded by the plan, in a dry run too', async () => {
    const { live } = await service.account('free');
    const file = bitly(rows(120).map((row) => row.replace('/up-', '/plan-')));
    for (const query of ['?dry_run=true', '']) {
      const { totals, links } = await upload(live, query, file);
      expect(totals, query).toMatchObject({ imported: 100, refused: 20 });
      expect(links.at(-1).reasons[0]).toMatch(/^The free plan allows 100 QR codes/);
    }
  });

  test.each([
    ['text/csv', 'Name\nMenu', 400, 'one of them for the destination'],
    ['text/csv', 'url,slug\nhttps://example.com,"open', 400, 'The quote in line 2 of the file is not closed.'],
    ['text/csv', '', 400, 'The file is empty.'],
    ['application/json', '{', 400, 'The file is not JSON'],
    ['application/json', '{"a": 1}', 400, 'name it in source'],
    ['text/csv', `url\n${'https://example.com\n'.repeat(10_001)}`, 400, 'more than 10,000 links'],
    ['text/csv', 'x'.repeat(4 * 1024 * 1024 + 1), 413, 'at most 4 MiB'],
    ['text/plain', 'url', 415, 'text/csv or application/json'],
  ])('refuses a %s file with an error as a whole', async (type, body, status, message) => {
    const { live } = await service.account();
    const answer = await upload(live, '', body, type);
    expect([answer.status, answer.error.message]).toEqual([status, expect.stringContaining(message)]);
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(0);
  });

  test('needs a live key, and one import of an account runs at a time', async () => {
    const { live, test: testApi } = await service.account();
    expect((await upload(testApi, '?dry_run=true', bitly(rows(1)))).error.code).toBe('live_key_required');
    const file = bitly(rows(1_000).map((row) => row.replace('/up-', '/one-')));
    const answers = await atOnce(3, () => upload(live, '', file));
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    expect(done.reduce((sum, { totals }) => sum + totals.imported, 0)).toBe(1_000);
    for (const { status, error } of answers)
      if (status !== 200) expect([status, error.code]).toEqual([409, 'conflict']);
  });
});
