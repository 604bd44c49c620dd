import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { historyOf } from '../../src/codes/history.ts';
import { created, newCode } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { peakAbove } from '../support/peak-memory.ts';
import { endWindows } from '../support/rate-windows.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { retrying } from '../support/warehouse.ts';

/** An account changes the longest rules that there can be, again and again, and reads what became of them. */
const service = useService();
/** Above idle. All events at once are 50 MB, and 400 MB and more in memory if several requests read them. */
const maxMegabytes = 250;
const changes = 240;
const last = changes + 1;

let account: TestAccount;
let id: string;
let key: string;
let startedAt: Date;
const atVersion = (version: number) => new Date(startedAt.getTime() + version);

beforeAll(async () => {
  account = await service.account();
  ({ id } = await created(account.live));
  const [creation] = await service.database.sql<[{ actor: string }]>`SELECT actor FROM events WHERE stream = ${id}`;
  key = creation.actor;
  startedAt = new Date();
  await changeRules(id, last);
  await retrying(account.live).get('/v1/analytics/aggregate');
  const { body } = await eventually(async () => {
    const response = await account.live.get(`/v1/qrcodes/${id}`);
    expect(response.body.version).toBe(last);
    return response;
  });
  expect(JSON.stringify(body.rules).length).toBeGreaterThan(45_000);
});

beforeEach(() => endWindows(service.database.sql));

/** Stores the changes up to a version at once: requests would take a minute. The first rule of a version leads everyone. */
async function changeRules(id: string, last: number, actor = key, since = startedAt): Promise<void> {
  const { sql } = service.database;
  const rules = (version: string) => `(
    SELECT jsonb_agg(jsonb_build_object('id', 'r' || ${version} || 'x' || i, 'when', '{"devices": ["desktop", "ios", "android"]}'::jsonb,
      'destination_url', 'https://example.com/' || ${version} || '/' || i || '/' || repeat('🍕', 1100)))
    FROM generate_series(1, 20) AS i)`;
  await sql.unsafe(
    `WITH made AS (
      INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
      SELECT nextval('log_position'), 'evt_of_' || $1 || version, $1, version, 'rules_changed', 1,
        jsonb_build_object('from', CASE WHEN version = 2 THEN 'null'::jsonb ELSE ${rules('version - 1')} END, 'to', ${rules('version')}),
        $2, $3::timestamptz + version * interval '1 ms'
      FROM generate_series(2, ${last}) AS version
    )
    UPDATE codes SET rules = ${rules(`${last}`)}, version = ${last},
      updated_at = $3::timestamptz + ${last} * interval '1 ms'
    WHERE id = $1`,
    [id, actor, since.toISOString()],
  );
}

/** Several clients of the account do the same at once. */
async function expectBounded(request: () => Promise<{ status: number }>, clients: number): Promise<void> {
  let responses: { status: number }[] = [];
  const { service: ofService } = await peakAbove(async () => {
    responses = await Promise.all(Array.from({ length: clients }, request));
  });
  for (const { status } of responses) expect(status).toBe(200);
  expect(ofService, 'MB').toBeLessThan(maxMegabytes);
}

describe('a long history of long rules', () => {
  const path = (rest: string) => `/v1/qrcodes/${id}${rest}`;

  test('is a page of the same entries, whether it is sent in parts or not', async () => {
    const { body: page } = await account.live.get(path('/history?limit=20&page=2'));
    expect(page.pagination).toEqual({ page: 2, limit: 20, total: last, total_pages: Math.ceil(last / 20) });
    expect(page.data.map(({ version }: { version: number }) => version)).toEqual(
      Array.from({ length: 20 }, (_, i) => last - 20 - i),
    );
    const { body: one } = await account.live.get(path('/history?limit=1&page=30'));
    expect(page.data[9]).toEqual(one.data[0]);
    expect(one.data[0].to[0].destination_url).toMatch(`/${last - 29}/1/`);
  });

  test('is read and sent in parts', async () => {
    const parts: number[] = [];
    for await (const events of historyOf(service.database.sql, { account: account.id, id }, { after: 0, to: last }))
      parts.push(JSON.stringify(events).length);
    expect(parts.length).toBeGreaterThan(100);
    expect(Math.max(...parts)).toBeLessThan(1_000_000);

    const { text } = await account.live.get(path('/history?limit=500'));
    const { data, pagination } = JSON.parse(text);
    expect(data.map(({ version }: { version: number }) => version)).toEqual(
      Array.from({ length: last }, (_, i) => last - i),
    );
    expect(pagination).toEqual({ page: 1, limit: 500, total: last, total_pages: 1 });
  });

  test('does not have to be read to know what the code was', async () => {
    const then = path(`?as_of=${atVersion(last - 3).toISOString()}`);
    const { body } = await account.live.get(then);
    expect(body).toMatchObject({ version: last - 3, rules: { length: 20 } });
    expect(body.rules[4].destination_url).toMatch(`/${last - 3}/5/`);
    await expectBounded(() => account.live.get(then), 8);
  });

  test('is read in parts for what the code has led to', async () => {
    const { body } = await account.live.get(path('/analytics/destinations'));
    expect(body.data, 'its own destination and the present rules').toHaveLength(21);
    expect(body.data[1]).toMatchObject({ from: atVersion(last).toISOString(), to: null, scans: 0 });
  });

  test('is undone by the events that this needs', async () => {
    const body = { actor: key, from: atVersion(2).toISOString(), dry_run: true };
    const { body: undone } = await account.live.post('/v1/account/revert', body);
    const ofCode = undone.changes.filter(({ qr_id }: { qr_id: string }) => qr_id === id);
    expect(ofCode).toMatchObject([{ field: 'rules', to: null }]);
    const revert = async () => account.live.post('/v1/account/revert', body);
    await expectBounded(revert, 1);
  });

  test('has the URLs of an export', async () => {
    const code = await created(account.live);
    await changeRules(code.id, 31);
    const lead = async () => {
      const { headers } = await service.client(0).get(`/${code.short_code}`);
      return headers.get('location') ?? '';
    };
    const first = await eventually(async () => {
      const url = await lead();
      expect(url).toContain('https://example.com/31/1/');
      return decodeURI(url);
    });
    await account.live.patch(`/v1/qrcodes/${code.id}`, { rules: null });
    const plain = await eventually(async () => {
      const url = await lead();
      expect(url).toBe(code.destination_url);
      return url;
    });
    await service.allStored();
    const urls = await eventually(async () => {
      const { body } = await account.live.get(`/v1/qrcodes/${code.id}/analytics/export?columns=all&format=json`);
      const found = body.data.map(({ destination_url }: { destination_url: string }) => destination_url);
      expect(found).toContain(plain);
      return found;
    });
    expect(urls.slice(-2)).toEqual([first, plain]);
  });
});

test('a revert of more than fits in one response goes on with the next request, and is not computed as a whole', async () => {
  const { sql } = service.database;
  const other = await service.account();
  const requests = Array.from({ length: 120 }, (_, i) => newCode({ name: `Table ${i}` }));
  const { body: bulk } = await other.live.post('/v1/qrcodes/bulk', { qrcodes: requests });
  const ids: string[] = bulk.data.map((made: { id: string }) => made.id);
  const [creation] = await sql<[{ actor: string }]>`SELECT actor FROM events WHERE stream = ${ids[0] ?? ''}`;
  const from = new Date();
  for (const id of ids) await changeRules(id, 2, creation.actor, from);

  const revert = (dry_run: boolean) =>
    other.live.post('/v1/account/revert', { actor: creation.actor, from: from.toISOString(), dry_run });
  const dry = await revert(true);
  expect(dry.status).toBe(400);
  expect(dry.body.error.message).toContain('at most 4 MiB: choose a shorter period');
  const first = await revert(false);
  expect(first.status).toBe(409);
  const [, done = '0'] = /ended after (\d+) of 120 QR codes, which stay reverted/.exec(first.body.error.message) ?? [];
  expect(Number(done)).toBeGreaterThan(50);
  const second = await revert(false);
  expect(second.status).toBe(200);
  expect(second.body.changes).toHaveLength(120 - Number(done));
});
