import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { type Api, created } from '../../support/api.ts';
import { visitorNamed } from '../../support/scans.ts';
import { retrying, type StoredScan, useFilledWarehouse } from '../../support/warehouse.ts';
import { cellsOf } from './csv.ts';
import * as model from './model.ts';

let now = new Date('2026-03-15T10:20:30.456Z');
const { service, store } = useFilledWarehouse({ clock: () => now });

const hour = 3_600_000;
const day = 24 * hour;

/** Edge cases: ends of hours, days, months and years, a leap day, a Monday, changes to and from daylight saving, now. All scans of a run are near one of them. */
const anchors = ['2024-02-29T00:00:00Z', '2025-12-29T00:00:00Z', '2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z'];
const changesOfOffset = [
  ...['2026-03-29T01:00:00Z', '2025-10-26T01:00:00Z'], // Europe/Berlin
  ...['2026-04-04T15:00:00Z', '2025-10-04T15:30:00Z'], // Australia/Lord_Howe
  ...['2026-03-08T05:30:00Z', '2025-11-02T04:30:00Z'], // America/St_Johns
];
anchors.push(...changesOfOffset);
const timezones = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/St_Johns'];
const anchor = fc.constantFrom(...anchors.map(Date.parse), now.getTime());
const timeNear = (at: number) =>
  fc
    .oneof(
      fc.constantFrom(-1, 0, 1, -hour, hour, hour - 1, -hour - 1, day, -day, day - 1, -day - 1),
      fc.integer({ min: -2 * day, max: 2 * day }),
    )
    .map((by) => at + by);

// Some sort differently by bytes and by UTF-16; some are formulas to a spreadsheet.
const cities = [
  ...['Berlin', 'berlin', 'Zürich', '東京', '😀 City', 'ﬀ', 'Unknown', 'São Paulo', "L'Aquila", 'a\\b'],
  ...['=SUM(A1)', '+1', '-1', '@x', '\tTab', '\rReturn', 'a, "b"', 'line\r\nbreak', "'quoted", ''],
];

const scanNear = (at: number) =>
  fc.record({
    code: fc.constantFrom('first', 'first', 'second', 'deleted', 'test', 'foreign'),
    at: timeNear(at),
    country: fc.constantFrom('DE', 'AT', 'XX'),
    region: fc.constantFrom('Land Berlin', '=1+1', 'Unknown'),
    city: fc.constantFrom(...cities),
    device: fc.constantFrom('ios', 'android', 'desktop'),
    browser: fc.constantFrom('safari', 'chrome', 'samsung_browser', 'other'),
    is_bot: fc.boolean(),
    visitor: fc.constantFrom(...Array.from({ length: 12 }, (_, i) => visitorNamed(`visitor ${i}`))),
    is_unique: fc.boolean(),
    revision: fc.integer({ min: 1, max: 3 }),
  });

const timestamps = (start: number, end: number) => ({
  query: `start_date=${model.iso(start)}&end_date=${model.iso(end)}`,
  start,
  end,
  days: undefined,
});

/** A period in a time zone, and the query parameters that select it. */
const periodNear = (at: number) =>
  fc.constantFrom(...timezones).chain((timezone) => {
    const date = (ms: number) => model.local(timezone, ms).date;
    return fc
      .oneof(
        fc.constant({ query: '', start: now.getTime() - 30 * day, end: now.getTime(), days: undefined }),
        timeNear(at).map((end) => ({
          query: `end_date=${date(end)}`,
          ...model.wholeDates(timezone, model.iso(Date.parse(date(end)) - 29 * day).slice(0, 10), date(end)),
        })),
        fc
          .tuple(fc.oneof(timeNear(at), timeNear(at - 500 * day)), timeNear(at))
          .map((both) => both.sort((a, b) => a - b) as [number, number])
          .chain(([start, end]) =>
            fc.constantFrom(timestamps(start, end), {
              query: `start_date=${date(start)}&end_date=${date(end)}`,
              ...model.wholeDates(timezone, date(start), date(end)),
            }),
          ),
      )
      .map((period) => ({ ...period, timezone }));
  });

const queryNear = (at: number) =>
  fc.record({
    period: periodNear(at),
    bots: fc.constantFrom('include' as const, 'exclude' as const, 'only' as const),
    filters: fc.oneof(
      fc.constant({}),
      fc.record(
        {
          country: fc.constantFrom('DE', 'AT'),
          city: fc.constantFrom(...cities.filter((city) => city !== '')),
          device: fc.constantFrom('ios', 'android'),
          browser: fc.constantFrom('safari', 'chrome'),
        },
        { requiredKeys: [] },
      ),
    ),
    selected: fc.constantFrom([], ['second'], ['second', 'first']),
    interval: fc.constantFrom('hour' as const, 'day' as const, 'week' as const, 'month' as const),
    page: fc.integer({ min: 1, max: 3 }),
    limit: fc.integer({ min: 1, max: 40 }),
  });

/** Codes of one account, one of them deleted, and of another account; the first code has had three destinations. */
async function world() {
  const [own, other] = [await service.account(), await service.account()];
  const create = async (api: Api) => (await created(api)).id as string;
  const ids: Record<string, { code: string; account: string; mode: 'live' | 'test' }> = {
    first: { code: await create(own.live), account: own.id, mode: 'live' },
    second: { code: await create(own.live), account: own.id, mode: 'live' },
    deleted: { code: await create(own.live), account: own.id, mode: 'live' },
    test: { code: await create(own.test), account: own.id, mode: 'test' },
    foreign: { code: await create(other.live), account: other.id, mode: 'live' },
  };
  const changes = [now.getTime()];
  const [before, path] = [now, `/v1/qrcodes/${ids['first']?.code}`];
  for (const url of ['https://example.com/b', 'https://example.com/menu']) {
    now = new Date(now.getTime() + 1_000);
    changes.push(now.getTime());
    await own.live.patch(path, { destination_url: url });
  }
  now = before;
  await own.live.delete(`/v1/qrcodes/${ids['deleted']?.code}`);
  return { live: retrying(own.live), ids, changes };
}

let position = 0;

test('every read agrees with a model over a plain list of scans', async () => {
  await fc.assert(
    fc.asyncProperty(
      anchor.chain((at) =>
        fc.tuple(
          fc.array(scanNear(at), { minLength: 1, maxLength: 200, size: 'max' }),
          fc.array(queryNear(at), { minLength: 2, maxLength: 2 }),
        ),
      ),
      async ([history, queries]) => {
        const { live, ids, changes } = await world();
        const scans = history.map(
          ({ code, at, ...rest }): StoredScan => ({
            ...(ids[code] as { code: string; account: string; mode: 'live' | 'test' }),
            ...rest,
            id: newId('scan', at),
            occurred_at: new Date(at),
            position: ++position,
          }),
        );
        await store(scans);
        for (const query of queries) await compare(live, ids, changes, scans, query);
      },
    ),
    { numRuns: 2, endOnFailure: true },
  );
});

type RandomQuery = ReturnType<typeof queryNear> extends fc.Arbitrary<infer Q> ? Q : never;
type Ids = Awaited<ReturnType<typeof world>>['ids'];

async function compare(live: Api, ids: Ids, changes: number[], scans: StoredScan[], query: RandomQuery) {
  await compareCode(live, ids['first']?.code ?? '', changes, scans, query);
  await compareAccount(live, ids, scans, query);
}

/** Reads with the parameters of a query. */
const getter = (live: Api, { period, bots, filters }: RandomQuery) => {
  const { timezone } = period;
  const parameters = new URLSearchParams({ bots, ...filters, ...(timezone === 'UTC' ? {} : { timezone }) });
  return async (path: string, more = '') => (await live.get(`${path}?${period.query}&${parameters}${more}`)).body;
};

const escapeFormula = (text: string) => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);
const columns = ['id', 'timestamp', 'country', 'region', 'city', 'device', 'browser', 'is_unique'] as const;
const withoutCode = <T extends { qr_id: string }>({ qr_id: _, ...record }: T) => record;

async function compareCode(live: Api, first: string, changes: number[], scans: StoredScan[], query: RandomQuery) {
  const { period: selectedPeriod, bots, filters, interval, page, limit } = query;
  const { start, end, timezone, days } = selectedPeriod;
  const selection = { start, end, bots, filters, timezone, days };
  const ofFirst = model.selected(scans, [first], selection);
  const path = `/v1/qrcodes/${first}/analytics`;
  const get = getter(live, query);
  const period = { start: model.iso(start), end: model.iso(end) };

  const summary = {
    qr_id: first,
    period,
    summary: model.figures(scans, [first], selection),
    ...model.distribution(ofFirst),
  };
  const { unique_scans: _unique, bot_scans: _bots, ...figures } = summary.summary;
  expect(await get(path)).toEqual({ ...summary, summary: figures });
  const previous = model.previous(scans, [first], selection);
  expect(await get(path, '&compare=previous&include=counts')).toEqual({ ...summary, previous });

  const newestFirst = model.records(ofFirst).reverse().map(withoutCode);
  expect(await get(`${path}/scans`, `&page=${page}&limit=${limit}`)).toEqual({
    data: newestFirst.slice((page - 1) * limit, page * limit),
    pagination: { page, limit, total: ofFirst.length, total_pages: Math.ceil(ofFirst.length / limit) },
  });

  const series = model.series(ofFirst, selection, interval);
  const response = await get(`${path}/timeseries`, `&interval=${interval}&compare=previous`);
  const earlier = model.before(selection);
  if (series.length > 10_000) expect(response.error.code).toBe('invalid_request');
  else
    expect(response).toEqual({
      qr_id: first,
      interval,
      data: series,
      previous: {
        period: previous.period,
        data: model.series(model.selected(scans, [first], earlier), earlier, interval),
      },
    });
  expect(await get(`${path}/heatmap`)).toEqual({ qr_id: first, period, data: model.heatMap(ofFirst, timezone) });

  const urls = ['https://example.com/menu', 'https://example.com/b', 'https://example.com/menu'];
  expect(await get(`${path}/destinations`)).toEqual({
    qr_id: first,
    period,
    data: model.byRevision(ofFirst, 3).map((counts, i) => ({
      destination_url: urls[i],
      rule: null,
      variant: null,
      from: model.iso(changes[i] as number),
      to: i === 2 ? null : model.iso(changes[i + 1] as number),
      ...counts,
      scans: counts.total_scans,
      share: Math.round((counts.total_scans / Math.max(1, ofFirst.length)) * 10_000) / 10_000,
    })),
  });

  const records = model.records(ofFirst);
  const data = records.map(withoutCode);
  expect(await get(`${path}/export`, '&format=json')).toEqual({ qr_id: first, period, data });
  expect(cellsOf(await get(`${path}/export`))).toEqual([
    [...columns],
    ...records.map((record) => columns.map((column) => escapeFormula(String(record[column])))),
  ]);
}

/** Reads over all codes of the account, or over the selected ones. */
async function compareAccount(live: Api, ids: Ids, scans: StoredScan[], query: RandomQuery) {
  const { period: selectedPeriod, bots, filters, selected, interval, page, limit } = query;
  const { start, end, timezone, days } = selectedPeriod;
  const selection = { start, end, bots, filters, timezone, days };
  const isGiven = selected.length > 0;
  const codes = (isGiven ? selected : ['first', 'second']).map((name) => ids[name]?.code ?? '');
  const found = model.selected(scans, codes, selection);
  const read = getter(live, query);
  const qrIds = isGiven ? codes.map((code) => `&qr_id=${code}`).join('') : '';
  const get = (of: string, more = '') => read(`/v1/analytics/${of}`, `${qrIds}${more}`);
  const period = { start: model.iso(start), end: model.iso(end) };
  const name = 'Menu';

  const top = model.topCodes(found).map(({ qr_id, scans: n }) => ({ qr_id, name, scans: n }));
  expect(await get('aggregate', '&compare=previous&include=counts')).toEqual({
    period,
    summary: {
      ...model.figures(scans, codes, selection),
      total_qrcodes: codes.length,
      active_qrcodes: codes.length,
    },
    previous: model.previous(scans, codes, selection),
    top_qrcodes: top,
    ...model.distribution(found),
  });

  const series = model.series(found, selection, interval);
  const response = await get('timeseries', `&interval=${interval}&top=2`);
  if (series.length * 3 > 10_000) expect(response.error.code).toBe('invalid_request');
  else
    expect(response).toEqual({
      interval,
      data: series,
      qrcodes: top.map(({ qr_id }) => ({
        qr_id,
        name,
        data: model.series(model.selected(scans, [qr_id ?? ''], selection), selection, interval),
      })),
    });
  expect(await get('heatmap')).toEqual({ period, data: model.heatMap(found, timezone) });

  const rows = model.byCode(scans, codes, selection, isGiven);
  expect(await get('qrcodes', '&compare=previous&limit=1')).toEqual({
    data: rows.slice(0, 1).map((row) => ({ ...row, name, short_url: expect.any(String) })),
    pagination: { page: 1, limit: 1, total: rows.length, total_pages: rows.length },
  });
  expect((await get('qrcodes', `&page=${page + 1}`)).pagination.total, 'past the end').toBe(rows.length);

  const records = model.records(found);
  expect(await get('scans', `&page=${page}&limit=${limit}`)).toEqual({
    data: records.toReversed().slice((page - 1) * limit, page * limit),
    pagination: { page, limit, total: found.length, total_pages: Math.ceil(found.length / limit) },
  });
  expect(await get('export', '&format=json')).toEqual({ period, data: records });
  expect(cellsOf(await get('export'))).toEqual([
    ['qr_id', ...columns],
    ...records.map((record) => ['qr_id' as const, ...columns].map((column) => escapeFormula(String(record[column])))),
  ]);
}
