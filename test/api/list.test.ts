import { describe, expect, test } from 'vitest';
import { type Api, created, type Json, newCode } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { atOnce, blamedFields } from '../support/http.ts';
import { useService } from '../support/service.ts';

// All codes are created in the same millisecond, so created_at alone does not order them.
const frozen = new Date('2026-03-01T09:30:00.000Z');
const service = useService({ clock: () => frozen });

const names = (response: { body: Json }) => response.body.data.map(({ name }: { name: string }) => name);

async function make(client: Api, count: number): Promise<Json[]> {
  const qrcodes = Array.from({ length: count }, (_, i) => newCode({ name: `Code ${i}` }));
  return (await client.post('/v1/qrcodes/bulk', { qrcodes })).body.data;
}

describe('GET /v1/qrcodes', () => {
  test('returns exactly the seven fields of the interface for each code', async () => {
    const { live } = await service.account();
    const [code] = await make(live, 1);
    const { body } = await live.get('/v1/qrcodes');
    const { id, name, destination_url, short_url, status, total_scans, created_at } = code;
    expect(body).toEqual({
      data: [{ id, name, destination_url, short_url, status, total_scans, created_at }],
      pagination: { page: 1, limit: 20, total: 1, total_pages: 1 },
      next: null,
    });
  });

  test('finds a code by its short code, in its own account and mode only', async () => {
    const [{ live, test: development }, other] = [await service.account(), await service.account()];
    const codes = await make(live, 3);
    const path = `/v1/qrcodes?short_code=${codes[1].short_code}`;
    const { body } = await live.get(path);
    expect(body.data.map(({ id }: Json) => id)).toEqual([codes[1].id]);
    expect(body.pagination).toEqual({ page: 1, limit: 20, total: 1, total_pages: 1 });
    expect((await live.get(`${path}&status=paused`)).body.pagination.total).toBe(0);
    for (const client of [development, other.live]) expect((await client.get(path)).body.data).toEqual([]);
    expect((await live.get('/v1/qrcodes?short_code=')).status).toBe(400);
  });

  test('is empty for an account without codes', async () => {
    const { live } = await service.account();
    expect((await live.get('/v1/qrcodes')).body).toEqual({
      data: [],
      pagination: { page: 1, limit: 20, total: 0, total_pages: 0 },
      next: null,
    });
  });

  test('lists the newest first, also among codes of the same millisecond', async () => {
    const { live } = await service.account();
    for (const name of ['one', 'two', 'three']) await created(live, { name });
    await atOnce(10, () => live.post('/v1/qrcodes', newCode({ name: 'at once' })));
    await created(live, { name: 'last' });
    const first = names(await live.get('/v1/qrcodes'));
    expect(first).toEqual(['last', ...Array.from({ length: 10 }, () => 'at once'), 'three', 'two', 'one']);
    const ids = async () => (await live.get('/v1/qrcodes')).body.data.map(({ id }: Json) => id);
    expect(await ids(), 'the order is stable').toEqual(await ids());
  });

  test('a change does not move a code', async () => {
    const { live } = await service.account();
    const [oldest] = await make(live, 3);
    await live.patch(`/v1/qrcodes/${oldest.id}`, { name: 'Renamed' });
    expect(names(await live.get('/v1/qrcodes'))).toEqual(['Code 2', 'Code 1', 'Renamed']);
  });

  test('does not contain codes of other accounts and of the other mode', async () => {
    const [mine, other] = [await service.account(), await service.account()];
    await make(mine.live, 2);
    await make(mine.test, 1);
    expect((await mine.live.get('/v1/qrcodes')).body.pagination.total).toBe(2);
    expect((await mine.test.get('/v1/qrcodes')).body.pagination.total).toBe(1);
    expect((await other.live.get('/v1/qrcodes')).body).toMatchObject({ data: [], pagination: { total: 0 } });
  });
});

describe('pages', () => {
  test('together contain every code once, in order', async () => {
    const { live } = await service.account();
    await make(live, 45);
    const pages = [1, 2, 3].map((page) => live.get(`/v1/qrcodes?page=${page}`));
    const [first, second, third] = await Promise.all(pages);
    expect([first, second, third].map((page) => page?.body.data.length)).toEqual([20, 20, 5]);
    expect(third?.body.pagination).toEqual({ page: 3, limit: 20, total: 45, total_pages: 3 });
    expect([first, second, third].flatMap((page) => names(page as { body: Json }))).toEqual(
      Array.from({ length: 45 }, (_, i) => `Code ${44 - i}`),
    );
  });

  test.each([
    [1, 45],
    [45, 1],
    [44, 2],
    [46, 1],
    [100, 1],
  ])('limit %i: %i pages', async (limit, total_pages) => {
    const { live } = await service.account();
    await make(live, 45);
    const { body } = await live.get(`/v1/qrcodes?limit=${limit}`);
    expect(body.data).toHaveLength(Math.min(limit, 45));
    expect(body.pagination).toEqual({ page: 1, limit, total: 45, total_pages });
  });

  test.each(['4', '1000000', '2000000000', '9007199254740991'])(
    'page %s is past the end: empty, with correct totals',
    async (page) => {
      const { live } = await service.account();
      await make(live, 3);
      const response = await live.get(`/v1/qrcodes?page=${page}&limit=1`);
      expect(response.status).toBe(200);
      expect(response.body).toEqual({
        data: [],
        pagination: { page: Number(page), limit: 1, total: 3, total_pages: 3 },
        next: null,
      });
    },
  );

  test.each([
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=1e3', 'page'],
    ['page=0x10', 'page'],
    ['page=two', 'page'],
    ['page=', 'page'],
    ['page=%00', 'page'],
    ['page=+1', 'page'],
    ['page=99999999999999999999', 'page'],
    ['page=1&page=2', 'page'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-5', 'limit'],
    ['limit=ten', 'limit'],
    ['status=deleted', 'status'],
    ['status=Active', 'status'],
    ['status=', 'status'],
    ['status=active&status=paused', 'status'],
    ['q=', 'q'],
    ['q=%00', 'q'],
    ['q=a%00b', 'q'],
    [`q=${'x'.repeat(256)}`, 'q'],
    ['q=a&q=b', 'q'],
    ['sort=', 'sort'],
    ['sort=Name', 'sort'],
    ['sort=short_url', 'sort'],
  ])('?%s: 400 that names %s', async (query, field) => {
    const { live } = await service.account();
    const response = await live.get(`/v1/qrcodes?${query}`);
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe('invalid_request');
    expect(blamedFields(response)).toEqual([field]);
  });

  test('one response names every invalid parameter', async () => {
    const { live } = await service.account();
    expect(blamedFields(await live.get('/v1/qrcodes?page=0&limit=0&status=x'))).toEqual(['page', 'limit', 'status']);
  });
});

describe('totals', () => {
  test('by status match the existing codes after changes and deletes', async () => {
    const { live } = await service.account();
    const codes = await make(live, 6);
    await created(live, { name: 'Draft', status: 'draft' });
    for (const { id } of codes.slice(0, 2)) await live.patch(`/v1/qrcodes/${id}`, { active: false });
    await live.delete(`/v1/qrcodes/${codes[0].id}`);
    await live.delete(`/v1/qrcodes/${codes[5].id}`);

    const total = async (query: string) => {
      const { data, pagination } = (await live.get(`/v1/qrcodes${query}`)).body;
      expect(data.length, query).toBe(pagination.total);
      return pagination.total;
    };
    expect(await total('')).toBe(5);
    expect(await total('?status=active')).toBe(3);
    expect(await total('?status=paused')).toBe(1);
    expect(await total('?status=draft')).toBe(1);
    expect(names(await live.get('/v1/qrcodes?status=paused'))).toEqual(['Code 1']);
  });
});

describe('a search', () => {
  const found = async (client: Api, q: string, more = '') =>
    names(await client.get(`/v1/qrcodes?q=${encodeURIComponent(q)}${more}`)).toSorted();

  test('matches names, destinations and short codes, ignoring case', async () => {
    const { live } = await service.account();
    const suffix = Math.random().toString(36).slice(2, 8);
    await created(live, { name: 'Terrasse Été' });
    await created(live, { name: 'Leaflet', destination_url: 'https://example.com/Offers?ref=A4' });
    await created(live, { name: 'Poster', short_code: `Wine-${suffix}` });
    expect(await found(live, 'terrasse')).toEqual(['Terrasse Été']);
    expect(await found(live, 'été')).toEqual(['Terrasse Été']);
    expect(await found(live, 'REF=a4')).toEqual(['Leaflet']);
    expect(await found(live, `wine-${suffix}`)).toEqual(['Poster']);
    expect(await found(live, 'nowhere to be found')).toEqual([]);
  });

  test('treats every character literally', async () => {
    const { live } = await service.account();
    for (const name of ['100% off', '100 off', 'a_b', 'axb', 'back\\slash', "it's"]) await created(live, { name });
    expect(await found(live, '100%')).toEqual(['100% off']);
    expect(await found(live, 'a_b')).toEqual(['a_b']);
    expect(await found(live, 'k\\s')).toEqual(['back\\slash']);
    expect(await found(live, "it's")).toEqual(["it's"]);
    expect(await found(live, '%')).toEqual(['100% off']);
  });

  test('combines with status and pages, and its total counts the matches', async () => {
    const { live } = await service.account();
    const codes = await make(live, 12);
    await created(live, { name: 'Other' });
    await live.patch(`/v1/qrcodes/${codes[0].id}`, { active: false });
    await live.delete(`/v1/qrcodes/${codes[1].id}`);
    expect((await live.get('/v1/qrcodes?q=code&limit=5&page=3')).body).toMatchObject({
      data: [{ name: 'Code 0' }],
      pagination: { page: 3, limit: 5, total: 11, total_pages: 3 },
    });
    expect(await found(live, 'code', '&status=paused')).toEqual(['Code 0']);
  });

  test('does not contain codes of other accounts and of the other mode', async () => {
    const [mine, other] = [await service.account(), await service.account()];
    await make(mine.live, 1);
    expect(await found(mine.test, 'code')).toEqual([]);
    expect(await found(other.live, 'code')).toEqual([]);
  });
});

describe('sort', () => {
  test('by each field, in both directions', async () => {
    const { live } = await service.account();
    for (const [name, host] of Object.entries({ apple: 'b', cherry: 'c', Banana: 'a' }))
      await created(live, { name, destination_url: `https://${host}.example/` });
    const [, cherry, apple] = (await live.get('/v1/qrcodes')).body.data;
    await live.patch(`/v1/qrcodes/${apple.id}`, { active: false });
    await fetch(cherry.short_url, { redirect: 'manual' });
    await eventually(async () => {
      expect((await live.get(`/v1/qrcodes/${cherry.id}`)).body.total_scans).toBe(1);
    });
    for (const [sort, expected] of Object.entries({
      '-created_at': ['Banana', 'cherry', 'apple'],
      created_at: ['apple', 'cherry', 'Banana'],
      name: ['apple', 'Banana', 'cherry'],
      '-name': ['cherry', 'Banana', 'apple'],
      destination_url: ['Banana', 'apple', 'cherry'],
      '-destination_url': ['cherry', 'apple', 'Banana'],
      status: ['Banana', 'cherry', 'apple'],
      '-status': ['apple', 'Banana', 'cherry'],
      '-total_scans': ['cherry', 'Banana', 'apple'],
      total_scans: ['Banana', 'apple', 'cherry'],
    }))
      expect(names(await live.get(`/v1/qrcodes?sort=${sort}`)), sort).toEqual(expected);
  });

  test('by name, as people count, also at an earlier time', async () => {
    const { live } = await service.account('pro');
    for (const name of ['Table 10', 'table 2', 'Table 1', 'Ölberg', 'Ofen', 'Table 2b', 'Zelt'])
      await created(live, { name });
    const expected = ['Ofen', 'Ölberg', 'Table 1', 'table 2', 'Table 2b', 'Table 10', 'Zelt'];
    expect(names(await live.get('/v1/qrcodes?sort=name'))).toEqual(expected);
    expect(names(await live.get('/v1/qrcodes?sort=-name'))).toEqual(expected.toReversed());
    expect(names(await live.get(`/v1/qrcodes?sort=name&as_of=${frozen.toISOString()}`))).toEqual(expected);
  });

  test.each(['name', '-total_scans'])('by %s, pages contain every code once, also among ties', async (sort) => {
    const { live } = await service.account();
    for (let i = 0; i < 7; i++) await created(live, { name: 'Same' });
    const pages = await Promise.all([1, 2, 3].map((page) => live.get(`/v1/qrcodes?sort=${sort}&limit=3&page=${page}`)));
    expect(new Set(pages.flatMap(({ body }) => body.data.map(({ id }: Json) => id))).size).toBe(7);
  });
});

describe('a cursor', () => {
  /** All items of a list, two at a time; `between` runs before each further request. */
  async function follow(
    client: Api,
    query: string,
    between: () => Promise<unknown> = async () => {},
  ): Promise<string[]> {
    let { body } = await client.get(`/v1/qrcodes?limit=2&${query}`);
    const found = names({ body });
    while (body.next !== null) {
      await between();
      body = (await client.get(`/v1/qrcodes?limit=2&${query}&after=${body.next}`)).body;
      expect(Object.keys(body)).toEqual(['data', 'next']);
      found.push(...names({ body }));
    }
    return found;
  }

  test('reads the whole list in every order and with every filter', async () => {
    const { live } = await service.account('enterprise');
    const codes = [
      { name: 'Table 10', tags: ['a'] },
      { name: 'table 2', tags: ['a', 'b'] },
      { name: 'Same', tags: ['a'] },
      { name: 'Same', tags: ['a'] },
      { name: 'Same', status: 'draft' },
      { name: 'Zelt', expires_at: '2020-01-01T00:00:00Z', tags: ['a'] },
      { name: 'Öl', note: 'to follow' },
    ];
    for (const code of codes) await created(live, code);
    const asOf = `as_of=${frozen.toISOString()}`;
    for (const filter of [
      ...['-created_at', 'created_at', 'name', '-name', '-total_scans', 'total_scans'].map((sort) => `sort=${sort}`),
      ...['status=active', 'status=draft', 'q=same', 'q=to%20follow', 'tag=a', 'tag=a&tag=b&tag_match=all'],
      ...['availability=live', 'availability=expired', 'short_code=none', 'tag=a&status=active&q=table&sort=-name'],
      ...[asOf, `${asOf}&sort=name`, `${asOf}&sort=-name&tag=a`, `${asOf}&q=same`],
    ])
      expect(await follow(live, filter), filter).toEqual(names(await live.get(`/v1/qrcodes?limit=100&${filter}`)));
  });

  test.each(['-created_at', 'name'])(
    'by %s neither repeats nor misses a code while others come and go',
    async (sort) => {
      const { live } = await service.account('pro');
      const codes = await make(live, 9);
      const expected = names(await live.get(`/v1/qrcodes?limit=100&sort=${sort}`));
      // Before each request, a code comes and one goes that were already read; the last code of a page is among them.
      let read = 0;
      const found = await follow(live, `sort=${sort}`, async () => {
        read += 2;
        await created(live, { name: sort === 'name' ? 'Aa' : `Newer ${read}` });
        const seen = expected[read - 1];
        await live.delete(`/v1/qrcodes/${codes.find(({ name }) => name === seen)?.id}`);
      });
      expect(found).toEqual(expected);
    },
  );

  test('can be followed from any page', async () => {
    const { live } = await service.account();
    await make(live, 5);
    const second = (await live.get('/v1/qrcodes?limit=2&page=2')).body;
    expect(names({ body: second })).toEqual(['Code 2', 'Code 1']);
    expect((await live.get(`/v1/qrcodes?limit=5&after=${second.next}`)).body).toMatchObject({
      data: [{ name: 'Code 0' }],
      next: null,
    });
  });

  test('of another account, mode or list, or together with a page: 400', async () => {
    const [mine, other] = [await service.account(), await service.account()];
    for (const client of [mine.live, mine.test, other.live]) await make(client, 3);
    const { next } = (await mine.live.get('/v1/qrcodes?limit=1&sort=name')).body;
    const { next: ofEvents } = (await mine.live.get('/v1/events?limit=1')).body;
    expect((await mine.live.get(`/v1/qrcodes?sort=name&after=${next}`)).status).toBe(200);
    for (const [client, query] of [
      [other.live, `sort=name&after=${next}`],
      [mine.test, `sort=name&after=${next}`],
      [mine.live, `sort=-name&after=${next}`],
      [mine.live, `sort=name&status=active&after=${next}`],
      [mine.live, `sort=name&as_of=${frozen.toISOString()}&after=${next}`],
      [mine.live, `sort=name&after=${next}&page=1`],
      [mine.live, `sort=name&after=${next.slice(0, -2)}`],
      [mine.live, `after=${ofEvents}`],
      [mine.live, 'after='],
      [mine.live, 'after=now'],
      [mine.live, 'after=%00'],
    ] as const) {
      const response = await client.get(`/v1/qrcodes?${query}`);
      expect(response.status, query).toBe(400);
      expect(blamedFields(response), query).toEqual(['after']);
    }
  });
});
