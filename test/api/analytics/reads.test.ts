import { beforeAll, describe, expect, test } from 'vitest';
import { readCodes } from '../../../src/analytics/codes.ts';
import { WarehouseUnavailable } from '../../../src/analytics/errors.ts';
import { readFigures, readTotals } from '../../../src/analytics/figures.ts';
import type { Reading } from '../../../src/analytics/reading.ts';
import { readScans } from '../../../src/analytics/scans.ts';
import type { Selection } from '../../../src/analytics/selection.ts';
import { readCodeScans, readCodeSeries, readHeatMap, readLeads, readSeries } from '../../../src/analytics/series.ts';
import { readWarehouse } from '../../../src/api/analytics/reading.ts';
import { created, type Json } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { blamedFields } from '../../support/http.ts';
import { scanned } from '../../support/scans.ts';
import type { TestAccount } from '../../support/service.ts';
import { retrying, useFilledWarehouse } from '../../support/warehouse.ts';

const now = new Date('2026-03-15T10:20:30.456Z');
const { service, store } = useFilledWarehouse({ clock: () => now });

let account: TestAccount;
let id: string;
let position = 0;
const stored = (fields: Parameters<typeof scanned>[0]) => ({
  ...scanned({ account: account.id, code: id, ...fields }),
  position: ++position,
  is_unique: true,
});
const ofCode = (code: string) => [
  ...['', '/scans', '/timeseries', '/heatmap', '/destinations', '/export'].map(
    (read) => `/v1/qrcodes/${code}/analytics${read}`,
  ),
  `/v1/analytics/qrcodes/${code}`,
];

const ofAccount = ['aggregate', 'scans', 'timeseries', 'heatmap', 'export', 'qrcodes'].map(
  (read) => `/v1/analytics/${read}`,
);

beforeAll(async () => {
  const owner = await service.account();
  account = { ...owner, live: retrying(owner.live) };
  id = (await created(account.live)).id;
  const times = ['2026-03-14T23:59:59.999Z', '2026-03-15T00:00:00.000Z', '2026-03-15T10:20:30.456Z'];
  await store(times.map((time) => stored({ occurred_at: new Date(time) })));
});

describe('access', () => {
  test('returns 404 for an unknown or deleted code and for one of another account or mode', async () => {
    const { live, test: inTestMode } = account;
    const other = await service.account();
    const deleted = (await created(live)).id;
    await live.delete(`/v1/qrcodes/${deleted}`);
    for (const path of [...ofCode('qr_0000000000000000000000'), ...ofCode('nonsense'), ...ofCode(deleted)])
      expect((await live.get(path)).status, path).toBe(404);
    for (const path of ofCode(id)) {
      expect((await other.live.get(path)).status, path).toBe(404);
      expect((await inTestMode.get(path)).status, path).toBe(404);
      expect((await service.client(0).get(path)).status, path).toBe(401);
    }
  });

  test('returns 404 when qr_id names a code that the account does not have in this mode', async () => {
    const other = await service.account();
    for (const path of ofAccount) {
      for (const unknown of ['qr_0000000000000000000000', 'nonsense'])
        expect((await account.live.get(`${path}?qr_id=${id}&qr_id=${unknown}`)).status, path).toBe(404);
      expect((await other.live.get(`${path}?qr_id=${id}`)).status, path).toBe(404);
      expect((await account.test.get(`${path}?qr_id=${id}`)).status, path).toBe(404);
    }
  });

  test('does not count a deleted code whose scans are still in the warehouse', async () => {
    const owner = await service.account();
    const patiently = retrying(owner.live);
    const [kept, gone] = [
      (await created(owner.live, { name: 'Kept' })).id,
      (await created(owner.live, { name: 'Gone' })).id,
    ];
    await store([kept, gone, gone].map((code) => stored({ code, account: owner.id, occurred_at: now })));
    const top = async () => (await patiently.get('/v1/analytics/aggregate')).body;
    expect(await top()).toMatchObject({
      summary: { total_scans: 3, unique_visitors: 3, total_qrcodes: 2 },
      top_qrcodes: [
        { qr_id: gone, name: 'Gone', scans: 2 },
        { qr_id: kept, name: 'Kept', scans: 1 },
      ],
    });
    await owner.live.delete(`/v1/qrcodes/${gone}`);
    expect(await top()).toMatchObject({
      summary: { total_scans: 1, unique_visitors: 1, total_qrcodes: 1, active_qrcodes: 1 },
      top_qrcodes: [{ qr_id: kept, name: 'Kept', scans: 1 }],
      devices: { ios: 1, android: 0, desktop: 0 },
    });
  });
});

describe('query parameters', () => {
  test.each([
    ['start_date=2026-03-02&end_date=2026-03-01', ['start_date']],
    ['start_date=2025-02-29', ['start_date']],
    ['start_date=x&end_date=y', ['start_date', 'end_date']],
    ['start_date=2026-03-01&start_date=2026-03-02', ['start_date']],
    ['bots=none', ['bots']],
    ['bots=', ['bots']],
    ['country=Germany', ['country']],
    ['city=', ['city']],
    ['city=Berlin&city=Paris', ['city']],
    ['device=tablet&browser=firefox', ['device', 'browser']],
  ])('%s: 400 on every read', async (query, fields) => {
    for (const path of [...ofCode(id), ...ofAccount]) {
      const response = await account.live.get(`${path}?${query}`);
      expect(response.status, path).toBe(400);
      expect(blamedFields(response), path).toEqual(fields);
    }
  });

  test('validates page, limit, interval and format', async () => {
    const path = `/v1/qrcodes/${id}/analytics`;
    for (const [read, field] of [
      ...['page=0', 'page=-1', 'page=1.5', 'page=x'].map((query) => [`/scans?${query}`, 'page']),
      ...['limit=0', 'limit=501', 'limit='].map((query) => [`/scans?${query}`, 'limit']),
      ...['interval=year', 'interval=', 'interval=hour&start_date=1990-01-01'].map((q) => [
        `/timeseries?${q}`,
        'interval',
      ]),
      ['/timeseries?start_date=1900-01-01&end_date=2299-12-31', 'interval'],
      ['/export?format=xml', 'format'],
    ] as [string, string][]) {
      const response = await account.live.get(`${path}${read}`);
      expect(response.status, read).toBe(400);
      expect(blamedFields(response), read).toEqual([field]);
    }
    const widest = await account.live.get(
      `${path}/timeseries?interval=month&start_date=1900-01-01&end_date=2299-12-31`,
    );
    expect(widest.body.data).toHaveLength(4_800);
  });

  test('validates compare, top and the number of codes', async () => {
    const tooMany = Array.from({ length: 101 }, () => `qr_id=${id}`).join('&');
    for (const [path, field] of [
      [`/v1/qrcodes/${id}/analytics?compare=year`, 'compare'],
      ['/v1/analytics/aggregate?compare=', 'compare'],
      [`/v1/analytics/aggregate?${tooMany}`, 'qr_id'],
      ['/v1/analytics/timeseries?top=11', 'top'],
      ['/v1/analytics/timeseries?interval=hour&start_date=2026-01-01&top=10', 'interval'],
    ] as const) {
      const response = await account.live.get(path);
      expect(response.status, path).toBe(400);
      expect(blamedFields(response), path).toEqual([field]);
    }
  });

  test('ten countries and ten cities are listed, or as many as the read asks for', async () => {
    const other = await service.account();
    const live = retrying(other.live);
    const { id: code } = await created(live);
    const codes = Array.from({ length: 12 }, (_, i) => `A${String.fromCharCode(65 + i)}`);
    const at = new Date('2026-03-15T10:00:00.000Z');
    await store(
      codes.map((country) => stored({ account: other.id, code, country, city: `Town ${country}`, occurred_at: at })),
    );
    const period = 'start_date=2026-03-15&end_date=2026-03-15';
    for (const path of [`/v1/qrcodes/${code}/analytics?${period}`, `/v1/analytics/aggregate?${period}&qr_id=${code}`]) {
      const listed = async (query: string) => {
        const { top_countries, top_cities } = (await live.get(`${path}${query}`)).body;
        return [top_countries.map(({ country }: Json) => country), top_cities.map(({ country }: Json) => country)];
      };
      const ten = codes.slice(0, 10);
      expect(await listed('')).toEqual([ten, ten]);
      expect(await listed('&countries=1')).toEqual([codes.slice(0, 1), ten]);
      expect(await listed('&countries=250&cities=11')).toEqual([codes, codes.slice(0, 11)]);
      for (const name of ['countries', 'cities'])
        for (const wrong of ['0', '251', 'all'])
          expect(blamedFields(await live.get(`${path}&${name}=${wrong}`)), wrong).toEqual([name]);
    }
  });

  test('a country is found in either case', async () => {
    const total = async (country: string) =>
      (await account.live.get(`/v1/qrcodes/${id}/analytics?country=${country}`)).body.summary.total_scans;
    expect([await total('de'), await total('DE'), await total('at')]).toEqual([3, 3, 0]);
  });

  test('a page past the end is empty, with the right total', async () => {
    const { body } = await account.live.get(`/v1/qrcodes/${id}/analytics/scans?page=9007199254740991&limit=500`);
    expect(body).toEqual({
      data: [],
      pagination: { page: 9007199254740991, limit: 500, total: 3, total_pages: 1 },
    });
  });

  test('includes the last millisecond of a day and of now', async () => {
    const total = async (query: string) =>
      (await account.live.get(`/v1/qrcodes/${id}/analytics/scans?limit=1&${query}`)).body.pagination.total;
    expect(await total('')).toBe(3);
    expect(await total('end_date=2026-03-14')).toBe(1);
    expect(await total('start_date=2026-03-15&end_date=2026-03-15')).toBe(2);
    expect(await total('end_date=2026-03-15T10:20:30.455Z')).toBe(2);
    expect(await total('start_date=2027-01-01')).toBe(0);
    expect(await total('start_date=1900-01-01&end_date=1970-01-01')).toBe(0);
  });
});

test('every response has a token for its position of the log, not the number', async () => {
  const { sql } = service.database;
  const tokens = new Set<string | null>();
  for (const path of [...ofCode(id), ...ofAccount])
    tokens.add((await account.live.get(path)).headers.get('x-log-position'));
  expect([...tokens], 'the same token for the same position').toEqual([expect.stringMatching(/^[\w-]{22}$/)]);
  await sql`UPDATE warehouse_tables SET position = position + 1 WHERE in_use`;
  tokens.add((await account.live.get('/v1/analytics/aggregate')).headers.get('x-log-position'));
  await sql`UPDATE warehouse_tables SET position = position - 1 WHERE in_use`;
  expect(tokens.size, 'a new token for a new position').toBe(2);
  // The first reads of ClickHouse in WebAssembly take seconds each on a busy machine.
});

describe('tables that are read', () => {
  const selection = (): Selection => ({
    account: account.id,
    mode: 'live',
    codes: { only: id },
    bots: 'exclude',
    start: new Date('2026-02-13T10:20:30.456Z'),
    end: now,
  });

  /** The tables that ClickHouse would read for `read`: its queries are only explained, and return no rows. */
  async function sourcesOf(read: (reading: Reading) => Promise<unknown>): Promise<string[]> {
    const { warehouse } = service;
    const plans: string[] = [];
    const explaining = new Proxy(warehouse.client, {
      get: (client, property) =>
        property !== 'query'
          ? Reflect.get(client, property)
          : async (request: Parameters<typeof client.query>[0]) => {
              const plan = await client.query({ ...request, query: `EXPLAIN ${request.query}`, format: 'JSONEachRow' });
              plans.push(...(await plan.json<{ explain: string }>()).map(({ explain }) => explain));
              return { json: async () => [] };
            },
    });
    await read({ warehouse: { ...warehouse, client: explaining }, version: 1, signal: new AbortController().signal });
    return plans.flatMap((line) => /ReadFromMergeTree \((\w+)/.exec(line)?.[1] ?? []);
  }

  test('are the groups of whole hours and days, and rows only at both ends', async () => {
    const rows = service.warehouse.database;
    const sources = async (read: (reading: Reading) => Promise<unknown>) => (await sourcesOf(read)).toSorted();
    const summary = ['by_hour', rows, 'by_place', 'by_client', rows];
    expect(await sources((reading) => readFigures(reading, selection()))).toEqual(summary.toSorted());
    expect(await sources((reading) => readFigures(reading, { ...selection(), codes: { without: ['qr_1'] } }))).toEqual(
      [...summary, 'by_hour', rows].toSorted(),
    );
    expect(await sources((reading) => readSeries(reading, selection(), 'week'))).toEqual(['by_hour', rows].toSorted());
    expect(await sources((reading) => readLeads(reading, selection()))).toEqual(['by_hour', rows].toSorted());
    expect(
      await sources((reading) => readScans(reading, selection(), { offset: 0, limit: 1 })),
      'the offset of a page is found by counting groups',
    ).toEqual(['by_hour', rows].toSorted());
  });

  test('are the groups of hours for totals, codes and the hours of a week', async () => {
    const sources = [service.warehouse.database, 'by_hour'].toSorted();
    const ofAll = { ...selection(), codes: { without: ['qr_1'] } };
    for (const read of [
      (reading: Reading) => readTotals(reading, selection()),
      (reading: Reading) => readHeatMap(reading, selection()),
      (reading: Reading) => readCodes(reading, ofAll, { offset: 0, limit: 10 }),
      (reading: Reading) => readCodeSeries(reading, ofAll, 'day'),
      (reading: Reading) => readCodeScans(reading, { ...ofAll, codes: { among: [id] } }),
    ])
      expect((await sourcesOf(read)).toSorted()).toEqual(sources);
  });

  test('are the groups of the account for all of its codes, unless some are left out', async () => {
    const groups = [service.warehouse.database, 'by_account'].toSorted();
    const ofAll = { ...selection(), codes: { without: [] } };
    for (const read of [
      (reading: Reading) => readSeries(reading, ofAll, 'day'),
      (reading: Reading) => readSeries(reading, { ...ofAll, timezone: 'America/New_York' }, 'month'),
      (reading: Reading) => readTotals(reading, ofAll),
      (reading: Reading) => readHeatMap(reading, ofAll),
    ])
      expect((await sourcesOf(read)).toSorted()).toEqual(groups);
    const without = { ...ofAll, codes: { without: ['qr_1'] } };
    expect(await sourcesOf((reading) => readSeries(reading, without, 'day'))).toContain('by_hour');
  });

  test('are the groups of hours in every time zone, and rows for the hours that its days split', async () => {
    const rows = service.warehouse.database;
    const inZone = (timezone: string) => ({ ...selection(), timezone });
    const sources = async (read: (reading: Reading) => Promise<unknown>) => (await sourcesOf(read)).toSorted();
    const groups = [rows, 'by_hour'].toSorted();
    expect(await sources((reading) => readSeries(reading, inZone('America/New_York'), 'hour'))).toEqual(groups);
    expect(await sources((reading) => readHeatMap(reading, inZone('America/New_York')))).toEqual(groups);
    expect(await sources((reading) => readSeries(reading, inZone('Asia/Kolkata'), 'day'))).toEqual(
      [...groups, rows].toSorted(),
    );
    expect(await sources((reading) => readSeries(reading, inZone('Asia/Kolkata'), 'hour'))).toEqual([rows]);
  });

  test('are the rows alone for a filter, read once for places and clients', async () => {
    const filtered = { ...selection(), filters: { country: 'DE' } };
    const rows = service.warehouse.database;
    expect(await sourcesOf((reading) => readFigures(reading, filtered))).toEqual([rows, rows]);
    expect(await sourcesOf((reading) => readSeries(reading, filtered, 'day'))).toEqual([rows]);
  });

  test('are only groups for whole days', async () => {
    const days = { ...selection(), start: new Date('2026-03-01T00:00:00Z'), end: new Date('2026-03-14T23:59:59.999Z') };
    expect((await sourcesOf((reading) => readFigures(reading, days))).toSorted()).toEqual([
      'by_client',
      'by_hour',
      'by_place',
    ]);
    expect(await sourcesOf((reading) => readSeries(reading, days, 'day'))).toEqual(['by_hour']);
  });
});

test('many reads of one account wait for one another, and reads of another account do not', async () => {
  const held = Promise.withResolvers<void>();
  const begun: string[] = [];
  const parts = { sql: service.database.sql, warehouse: service.warehouse };
  const read = (reader: string, name: string) =>
    readWarehouse(parts, { account: reader }, async () => {
      begun.push(name);
      if (reader === 'acct_a') await held.promise;
      return name;
    });
  const names = Array.from({ length: 67 }, (_, i) => `a${i + 1}`);
  const all = Promise.all(names.map((name) => read('acct_a', name)));
  await expect(read('acct_a', 'one too many')).rejects.toMatchObject({ code: 'unavailable' });
  expect((await read('acct_b', 'b')).found).toBe('b');
  await eventually(() => expect(begun.toSorted()).toEqual(['a1', 'a2', 'a3', 'b']));
  held.resolve();
  expect((await all).map(({ found }) => found)).toEqual(names);
});

test('a read ends with its signal, whatever it waits for, and makes room for the next', async () => {
  const parts = { sql: service.database.sql, warehouse: service.warehouse };
  const never = new Promise<never>(() => {});
  let begun = 0;
  const abort = new AbortController();
  const hang = () => {
    begun++;
    return never;
  };
  const hanging = Array.from({ length: 3 }, () => readWarehouse(parts, { account: 'acct_c' }, hang, abort.signal));
  await eventually(() => expect(begun).toBe(3));
  const next = readWarehouse(parts, { account: 'acct_c' }, async () => 'next');
  abort.abort();
  for (const read of await Promise.allSettled(hanging))
    expect(read).toMatchObject({ status: 'rejected', reason: expect.any(WarehouseUnavailable) });
  expect((await next).found).toBe('next');
});
