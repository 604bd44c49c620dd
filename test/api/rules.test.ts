import { beforeAll, describe, expect, test } from 'vitest';
import { readChunk } from '../../src/analytics/export.ts';
import { readScans } from '../../src/analytics/scans.ts';
import type { Selection } from '../../src/analytics/selection.ts';
import { leadKey, readLeads } from '../../src/analytics/series.ts';
import { block, unblock } from '../../src/codes/blocked-hosts.ts';
import { created, newCode } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { blamedFields } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';

let clock: Date | undefined;
const service = useService({ instances: 2, clock: () => clock ?? new Date() });
let account: TestAccount;
beforeAll(async () => {
  account = await service.account();
});

const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1';
const url = (path: string) => `https://example.com/${path}`;
const create = async (fields: Record<string, unknown> = {}) => await created(account.live, fields);
const pathOf = ({ id }: { id: string }) => `/v1/qrcodes/${id}`;

/** Scans, by default as an iPhone, on an instance. */
async function scan(
  { short_code }: { short_code: string },
  { query = '', instance = 0, ...headers }: { query?: string; instance?: number; [header: string]: unknown } = {},
) {
  const sent = { 'user-agent': iphone, 'x-forwarded-for': '203.0.113.1', ...(headers as Record<string, string>) };
  const { status, headers: received, body, text } = await service.client(instance).get(`/${short_code}${query}`, sent);
  return { status, location: received.get('location'), code: body?.error?.code, text };
}

async function at<T>(time: string, work: () => Promise<T>): Promise<T> {
  clock = new Date(time);
  return work().finally(() => {
    clock = undefined;
  });
}

const everything = {
  rules: [
    { name: 'iPhone', when: { devices: ['ios'] }, destination_url: url('ios') },
    {
      when: { countries: ['DE'] },
      split: [
        { weight: 1, destination_url: url('a') },
        { weight: 3, destination_url: url('b') },
      ],
    },
  ],
  starts_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2126-01-01T00:00:00.000Z',
  max_scans: 1_000,
  fallback_url: url('closed'),
  forward_query: true,
  utm: { source: 'flyer' },
  tags: ['Summer', 'menu'],
  note: ' On the terrace\r\nand inside ',
};
const answered = {
  ...everything,
  rules: [
    { ...everything.rules[0], id: expect.stringMatching(/^r\w{11}$/) },
    {
      id: expect.stringMatching(/^r/),
      when: { countries: ['DE'] },
      split: [
        { id: expect.stringMatching(/^v\w{11}$/), weight: 1, destination_url: url('a') },
        { id: expect.stringMatching(/^v/), weight: 3, destination_url: url('b') },
      ],
    },
  ],
  remaining_scans: 1_000,
  tags: ['Summer', 'menu'],
  note: 'On the terrace\nand inside',
  availability: 'live',
};

describe('the fields', () => {
  test('are returned by create, the single read, bulk and a change, and removed by null', async () => {
    const created = await create(everything);
    expect(created).toMatchObject(answered);
    expect((await account.live.get(pathOf(created))).body).toEqual({ ...created, version: 1 });
    const bulk = await account.live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(everything)] });
    expect(bulk.body.data[0]).toMatchObject(answered);

    const plain = await create();
    const none = Object.fromEntries(Object.keys(everything).map((field) => [field, null]));
    const { body: changed } = await account.live.patch(pathOf(plain), everything);
    expect(changed).toMatchObject(answered);
    expect((await account.live.get(pathOf(plain))).body).toEqual({ ...changed, version: 8 });
    const { body: removed } = await account.live.patch(pathOf(plain), none);
    const { updated_at: _, ...before } = plain;
    const { updated_at: __, ...after } = removed;
    expect(after).toEqual(before);

    const { body: history } = await account.live.get(`${pathOf(plain)}/history`);
    expect(history.data.map(({ event }: { event: string }) => event)).toEqual([
      'note_changed',
      ...['tags_changed', 'query_changed', 'fallback_changed', 'limit_changed', 'schedule_changed', 'rules_changed'],
      'note_changed',
      ...['tags_changed', 'query_changed', 'fallback_changed', 'limit_changed', 'schedule_changed', 'rules_changed'],
      'code_created',
    ]);
    expect(history.data[0]).toMatchObject({ field: 'note', from: answered.note, to: null });
    expect(history.data[1]).toMatchObject({ field: 'tags', from: ['Summer', 'menu'], to: null });
    expect(history.data[5]).toMatchObject({
      field: 'schedule',
      from: { starts_at: everything.starts_at, expires_at: everything.expires_at },
      to: { starts_at: null, expires_at: null },
    });
  });

  test('a code without them has only the fields of the contract', async () => {
    const fields = [
      ...['id', 'name', 'destination_url', 'short_code', 'short_url', 'image_url', 'status', 'active', 'total_scans'],
      ...['unique_scans', 'created_at', 'updated_at', 'style'],
    ].toSorted();
    const code = await create();
    expect(Object.keys(code).toSorted()).toEqual(fields);
    const { body } = await account.live.get(pathOf(code));
    expect(Object.keys(body).toSorted()).toEqual([...fields, 'availability', 'version'].toSorted());
    expect(Object.keys((await account.live.get('/v1/qrcodes?limit=1')).body.data[0])).toHaveLength(7);
  });

  test('a change that changes nothing appends nothing, and keeps ids', async () => {
    const code = await create(everything);
    const { body } = await account.live.patch(pathOf(code), everything);
    expect(body).toEqual(code);
    const heavier = structuredClone(everything);
    (heavier.rules[1] as { split: { weight: number }[] }).split[1] = { weight: 9, destination_url: url('b') } as never;
    const { body: weighted } = await account.live.patch(pathOf(code), { rules: heavier.rules });
    const idsOf = (rules: { id: string; split?: { id: string }[] }[]) =>
      rules.flatMap(({ id, split = [] }) => [id, ...split.map((variant) => variant.id)]);
    expect(idsOf(weighted.rules)).toEqual(idsOf(code.rules));
    expect(weighted.rules[1].split[1].weight).toBe(9);
    expect((await account.live.get(`${pathOf(code)}/history`)).body.pagination.total).toBe(2);
  });

  test('errors name the place, in create, bulk and change', async () => {
    const rules = [everything.rules[0], { when: { countries: ['DE', 'Germany'] }, destination_url: 'ftp://x.example' }];
    const places = ['rules[1].when.countries[1]', 'rules[1].destination_url'];
    const response = await account.live.post('/v1/qrcodes', newCode({ rules, max_scans: -1 }));
    expect(response.status).toBe(400);
    expect(blamedFields(response)).toEqual([...places, 'max_scans']);
    const code = await create({ starts_at: '2027-01-01T00:00:00Z' });
    expect(blamedFields(await account.live.patch(pathOf(code), { rules }))).toEqual(places);
    const bulk = await account.live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(), newCode({ rules })] });
    expect(bulk.body.error.details[0]).toMatchObject({ index: 1, field: places[0] });
    const early = await account.live.patch(pathOf(code), { expires_at: '2026-12-31T23:59:59Z' });
    expect([early.status, ...blamedFields(early)]).toEqual([400, 'expires_at']);
  });

  test('every URL may lead neither to this service nor to a blocked host', async () => {
    await block(service.database.sql, 'evil.example', new Date());
    const split = [
      { weight: 1, destination_url: url('a') },
      { weight: 1, destination_url: 'https://www.evil.example/' },
    ];
    const blocked = await account.live.post(
      '/v1/qrcodes',
      newCode({ rules: [{ split }], fallback_url: 'https://evil.example/' }),
    );
    expect(blocked.body.error.code).toBe('destination_blocked');
    expect(blamedFields(blocked)).toEqual(['fallback_url', 'rules[0].split[1].destination_url']);
    const code = await create();
    const change = await account.live.patch(pathOf(code), { fallback_url: 'https://evil.example/' });
    expect(change.body.error.code).toBe('destination_blocked');
    const loop = await account.live.patch(pathOf(code), { fallback_url: `${service.urls[0]}/x` });
    expect(blamedFields(loop)).toEqual(['fallback_url']);
    await unblock(service.database.sql, 'evil.example', new Date());
  });
});

describe('a scan', () => {
  test('leads where the first rule says, at once after a change, on every instance', async () => {
    const rules = [
      { when: { languages: ['de'] }, destination_url: url('de') },
      { when: { devices: ['ios'] }, destination_url: url('ios') },
    ];
    const code = await create({ rules });
    expect((await scan(code, { 'accept-language': 'de-AT' })).location).toBe(url('de'));
    expect((await scan(code, { 'accept-language': 'en' })).location).toBe(url('ios'));
    expect((await scan(code, { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', instance: 1 })).location).toBe(
      url('menu'),
    );
    await account.live.patch(pathOf(code), { rules: rules.toReversed() });
    expect((await scan(code, { 'accept-language': 'de' })).location).toBe(url('ios'));
    await eventually(async () =>
      expect((await scan(code, { 'accept-language': 'de', instance: 1 })).location).toBe(url('ios')),
    );
    await account.live.patch(pathOf(code), { rules: null });
    expect((await scan(code)).location).toBe(url('menu'));
  });

  test('of a menu by the hour follows the clocks of its time zone', async () => {
    const during = (from: string, to: string) => ({ hours: { from, to }, timezone: 'Europe/Berlin' });
    const code = await create({
      rules: [
        { when: during('07:00', '11:00'), destination_url: url('breakfast') },
        { when: during('11:00', '15:00'), destination_url: url('lunch') },
      ],
    });
    const menuAt = (time: string) => at(time, async () => (await scan(code)).location);
    // Daylight saving begins on 2026-03-29 at 01:00 UTC.
    expect(await menuAt('2026-03-28T09:59:59.999Z')).toBe(url('breakfast'));
    expect(await menuAt('2026-03-28T10:00:00.000Z')).toBe(url('lunch'));
    expect(await menuAt('2026-03-29T08:59:59.999Z')).toBe(url('breakfast'));
    expect(await menuAt('2026-03-29T09:00:00.000Z')).toBe(url('lunch'));
    expect(await menuAt('2026-03-29T13:00:00.000Z')).toBe(url('menu'));
  });

  test('before the start and after the end gets a page that says why, or the fallback', async () => {
    const schedule = { starts_at: '2026-06-01T09:00:00Z', expires_at: '2026-07-01T00:00:00Z' };
    const code = await create(schedule);
    const json = { accept: 'application/json' };
    const early = await at('2026-06-01T08:59:59.999Z', () => scan(code));
    expect(early.status).toBe(404);
    expect(early.text).toContain('starts on 1 June 2026 at 09:00 UTC');
    expect(await at('2026-06-01T08:59:59.999Z', () => scan(code, json))).toMatchObject({ code: 'not_started' });
    expect(await at('2026-06-01T09:00:00Z', () => scan(code))).toMatchObject({ status: 302, location: url('menu') });
    expect(await at('2026-07-01T00:00:00Z', () => scan(code, json))).toMatchObject({ status: 404, code: 'expired' });
    expect((await at('2026-07-01T00:00:00Z', () => scan(code))).text).toContain('has expired');
    const reads = ['2026-05-01T00:00:00Z', '2026-06-15T00:00:00Z', '2026-08-01T00:00:00Z'];
    const seen: string[] = [];
    for (const time of reads)
      seen.push(await at(time, async () => (await account.live.get(pathOf(code))).body.availability));
    expect(seen).toEqual(['scheduled', 'live', 'expired']);

    await account.live.patch(pathOf(code), { fallback_url: url('closed') });
    expect(await at('2026-08-01T00:00:00Z', () => scan(code))).toMatchObject({ status: 302, location: url('closed') });
    const stored = async () => service.database.sql<{ rule: string | null }[]>`
      SELECT rule FROM scans WHERE code = ${code.id} ORDER BY position`;
    await eventually(async () => expect(await stored()).toHaveLength(2));
    expect(await stored()).toEqual([{ rule: null }, { rule: expect.stringMatching(/^f/) }]);
  });

  test('takes its query along, and gets utm', async () => {
    const code = await create({
      destination_url: 'https://example.com/m?a=1#x',
      forward_query: true,
      utm: { source: 'flyer' },
    });
    expect((await scan(code, { query: '?a=2&table=5' })).location).toBe(
      'https://example.com/m?a=1&table=5&utm_source=flyer#x',
    );
    expect((await scan(code)).location).toBe('https://example.com/m?a=1&utm_source=flyer#x');
  });

  test('that leads to a host which was blocked later is refused, others are not', async () => {
    const code = await create({
      rules: [{ when: { devices: ['ios'] }, destination_url: 'https://later.example/' }],
    });
    const linux = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' };
    expect((await scan(code)).status).toBe(302);
    await block(service.database.sql, 'later.example', new Date());
    await eventually(async () => expect((await scan(code)).status).toBe(410));
    expect((await scan(code, linux)).location).toBe(url('menu'));
  });

  test('of a paused or deleted code is answered as without rules; HEAD records nothing', async () => {
    const code = await create({ rules: everything.rules });
    const head = await service.client(0).send(`/${code.short_code}`, {
      method: 'HEAD',
      headers: { 'user-agent': iphone },
    });
    expect([head.status, head.headers.get('location')]).toEqual([302, url('ios')]);
    await account.live.patch(pathOf(code), { active: false });
    expect((await scan(code)).status).toBe(404);
    await account.live.delete(pathOf(code));
    expect((await scan(code)).status).toBe(410);
    const [{ scans }] = await service.database.sql<[{ scans: number }]>`
      SELECT count(*) AS scans FROM scans WHERE code = ${code.id}`;
    expect(scans).toBe(0);
  });
});

describe('analytics', () => {
  test('count each rule and variant, and scans name them', async () => {
    const split = [
      { name: 'A', weight: 1, destination_url: url('a') },
      { name: 'B', weight: 1, destination_url: url('b') },
    ];
    const code = await create({
      rules: [
        { when: { languages: ['fr'] }, destination_url: url('fr,ca') },
        { when: { devices: ['ios'] }, split },
      ],
      fallback_url: url('closed'),
    });
    const [fr, ab] = code.rules;
    const visitors = Array.from({ length: 8 }, (_, i) => `203.0.113.${i + 1}`);
    const locations = new Map<string, string | null>();
    for (const address of visitors) locations.set(address, (await scan(code, { 'x-forwarded-for': address })).location);
    for (const address of visitors)
      expect((await scan(code, { 'x-forwarded-for': address, instance: 1 })).location, 'sticky').toBe(
        locations.get(address),
      );
    await scan(code, { 'accept-language': 'fr' });
    await scan(code, { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' });

    const countOf = (path: string) => visitors.filter((address) => locations.get(address) === url(path)).length;
    const { data } = await eventually(async () => {
      const { body } = await account.live.get(`${pathOf(code)}/analytics/destinations`);
      expect(body.data.reduce((sum: number, { scans }: { scans: number }) => sum + scans, 0)).toBe(18);
      return body;
    });
    const row = (
      destination_url: string,
      rule: string | null,
      variant: string | null,
      scans: number,
      people: number,
    ) => ({
      destination_url,
      rule,
      variant,
      scans,
      total_scans: scans,
      unique_visitors: people,
      share: Math.round((scans / 18) * 10_000) / 10_000,
    });
    const [a, b] = ab.split;
    expect(data).toMatchObject([
      row(url('menu'), null, null, 1, 1),
      row(url('fr,ca'), fr.id, null, 1, 1),
      row(url('a'), ab.id, a.id, 2 * countOf('a'), countOf('a')),
      row(url('b'), ab.id, b.id, 2 * countOf('b'), countOf('b')),
      row(url('closed'), null, null, 0, 0),
    ]);

    const { body: scans } = await account.live.get(`${pathOf(code)}/analytics/scans?limit=3`);
    expect(scans.data.slice(0, 2)).toMatchObject([
      { rule: null, variant: null },
      { rule: fr.id, variant: null },
    ]);
    expect(scans.data[2]).toMatchObject({ rule: ab.id, variant: expect.stringMatching(/^v/) });

    const linesOf = async (path: string) => (await account.live.get(path)).text.trimEnd().split('\r\n');
    const lines = (query: string) => linesOf(`${pathOf(code)}/analytics/export${query}`);
    expect((await lines(''))[0]).toBe('id,timestamp,country,region,city,device,browser,is_unique');
    await account.live.patch(pathOf(code), { name: '=1+1, "x"', tags: ['bar', 'terrace'] });
    const all = await lines('?columns=all');
    expect(all[0]).toBe(
      'id,timestamp,country,region,city,device,browser,is_unique,is_bot,rule,variant,destination_url,name,tags,domain',
    );
    const end = `,"'=1+1, ""x""",bar; terrace,`;
    expect(all.at(-2)?.endsWith(`,false,${fr.id},,"${url('fr,ca')}"${end}`), all.at(-2)).toBe(true);
    expect(all.at(-1)?.endsWith(`,false,,,${url('menu')}${end}`), all.at(-1)).toBe(true);
    expect(all.filter((line) => line.includes(`,${url('a')},`))).toHaveLength(2 * countOf('a'));
    const ofAccount = `/v1/analytics/export?columns=all&qr_id=${code.id}`;
    expect(await linesOf(ofAccount), 'the same with the id of the code first').toEqual(
      all.map((line, i) => `${i === 0 ? 'qr_id' : code.id},${line}`),
    );
    const { body: file } = await account.live.get(`${pathOf(code)}/analytics/export?format=json`);
    expect(file.data.at(-2)).toMatchObject({ rule: fr.id, variant: null });
    for (const path of [`${pathOf(code)}/analytics/export?`, `/v1/analytics/export?qr_id=${code.id}&`]) {
      const { body: complete } = await account.live.get(`${path}columns=all&format=json`);
      expect(complete.data).toHaveLength(18);
      expect(complete.data.at(-2)).toMatchObject({
        rule: fr.id,
        destination_url: url('fr,ca'),
        name: '=1+1, "x"',
        tags: ['bar', 'terrace'],
      });
    }

    // A table of before there were rules, which is read until the new one is filled, has no such columns.
    const old = { warehouse: service.warehouse, version: 1, definition: 1, signal: new AbortController().signal };
    const selection: Selection = {
      account: account.id,
      mode: 'live',
      codes: { only: code.id },
      bots: 'include',
      start: new Date(0),
      end: new Date(),
    };
    expect((await readScans(old, selection, { offset: 1, limit: 1 })).scans).toMatchObject([{ rule: null }]);
    expect([...(await readLeads(old, selection)).keys()]).toEqual([leadKey(1)]);
    const chunk = { upTo: Number.MAX_SAFE_INTEGER, after: undefined, limit: 100, withCode: false };
    for (const format of ['csv', 'json'] as const)
      expect((await readChunk(old, selection, { format, withLeads: true, ...chunk })).rows).toBe(18);
  });
});

test('resolve tells where a scan would lead, and records nothing', async () => {
  const code = await create({ ...everything, max_scans: undefined, expires_at: '2026-12-01T00:00:00Z' });
  const resolve = async (body: Record<string, unknown>) =>
    (await account.live.post(`${pathOf(code)}/resolve`, body)).body;
  const [ios, ab] = code.rules;
  const during = { at: '2026-11-01T00:00:00Z' };
  expect(await resolve({ ...during, device: 'ios', query: '?table=5' })).toEqual({
    destination_url: url('ios'),
    location: url('ios?table=5&utm_source=flyer'),
    rule: ios.id,
    variant: null,
    availability: 'live',
  });
  expect(await resolve({ ...during, country: 'de' })).toMatchObject({ rule: ab.id, variant: expect.any(String) });
  expect(await resolve(during)).toMatchObject({ destination_url: url('menu'), rule: null, variant: null });
  expect(await resolve({ at: '2026-12-01T00:00:00Z' })).toEqual({
    destination_url: url('closed'),
    location: url('closed'),
    rule: null,
    variant: null,
    availability: 'expired',
  });
  const plain = await create({ starts_at: '2126-01-01T00:00:00Z' });
  expect((await account.live.post(`${pathOf(plain)}/resolve`, {})).body).toEqual({
    destination_url: null,
    location: null,
    rule: null,
    variant: null,
    availability: 'scheduled',
  });
  expect(blamedFields(await account.live.post(`${pathOf(code)}/resolve`, { at: 'soon' }))).toEqual(['at']);
  expect((await account.test.post(`${pathOf(code)}/resolve`, {})).status).toBe(404);
  await service.allStored();
  expect(await service.database.sql`SELECT FROM scans WHERE code = ${code.id}`).toHaveLength(0);
});

test('tags keep their case, and two that differ only in case are one', async () => {
  const { live } = await service.account('enterprise');
  const tagsOf = async (path: string) => (await live.get(path)).body.tags;
  const first = await created(live, { tags: ['Café', 'CAFÉ ', 'bar'] });
  const second = await created(live, { tags: ['CAFÉ'] });
  expect([first.tags, second.tags]).toEqual([['Café', 'bar'], ['CAFÉ']]);
  // Written by a version that stored tags in lower case only.
  await service.database.sql`UPDATE codes SET tags = ARRAY['bar', 'café'] WHERE id = ${first.id}`;
  expect(await tagsOf(pathOf(first)), 'in the order of the tags').toEqual(['bar', 'Café']);
  await service.database.sql`UPDATE codes SET tags = ARRAY['café', 'bar'] WHERE id = ${first.id}`;
  for (const tag of ['café', 'CAFÉ', 'Cafe\u0301'])
    expect((await live.get(`/v1/qrcodes?tag=${encodeURIComponent(tag)}`)).body.pagination.total).toBe(2);

  await live.patch(pathOf(second), { tags: ['Café'] });
  expect((await live.get('/v1/tags')).body.data).toEqual([
    { tag: 'Café', qrcodes: 2 },
    { tag: 'bar', qrcodes: 1 },
  ]);
  const { body: history } = await live.get(`${pathOf(second)}/history`);
  expect(history.data).toMatchObject([{ field: 'tags', from: ['CAFÉ'], to: ['Café'] }, { to: { tags: ['CAFÉ'] } }]);
  expect(history.data[1].to).not.toHaveProperty('tag_names');
  expect((await live.post(`${pathOf(second)}/restore`, { version: 1 })).body.tags).toEqual(['CAFÉ']);
  expect((await live.post(`${pathOf(second)}/duplicate`, {})).body.tags).toEqual(['CAFÉ']);
  const { body: updated } = await live.post('/v1/qrcodes/bulk-update', {
    qr_ids: [first.id, second.id],
    tags: { add: ['cafÉ', 'Terrace'], remove: ['BAR'] },
  });
  expect(updated.data.map(({ changes }: { changes: { to: string[] }[] }) => changes[0]?.to)).toEqual([
    ['Café', 'Terrace'],
    ['CAFÉ', 'Terrace'],
  ]);
});

test('tags and availability filter the list, and tags are counted', async () => {
  const own = await service.account();
  const tagged = async (fields: Record<string, unknown>) => (await created(own.live, fields)).id;
  const a = await tagged({ tags: ['Summer', 'table'] });
  const b = await tagged({ tags: ['table'], starts_at: '2126-01-01T00:00:00Z' });
  const c = await tagged({ expires_at: '2020-01-01T00:00:00Z' });
  const listed = async (query: string) => {
    const { body } = await own.live.get(`/v1/qrcodes?${query}`);
    expect(body.pagination.total).toBe(body.data.length);
    return body.data.map(({ id }: { id: string }) => id);
  };
  expect(await listed('tag=SUMMER')).toEqual([a]);
  expect(await listed('tag=summer&tag=table')).toEqual([b, a]);
  expect(await listed('tag=summer&tag=TABLE&tag_match=all')).toEqual([a]);
  expect(await listed('tag=none')).toEqual([]);
  expect(await listed('availability=scheduled')).toEqual([b]);
  expect(await listed('availability=expired&tag=table')).toEqual([]);
  expect(await listed('availability=live')).toEqual([a]);
  expect(await listed('availability=expired')).toEqual([c]);
  expect(await listed('availability=limit_reached')).toEqual([]);
  expect((await own.live.get('/v1/tags')).body).toEqual({
    data: [
      { tag: 'table', qrcodes: 2 },
      { tag: 'Summer', qrcodes: 1 },
    ],
  });
  expect((await own.test.get('/v1/tags')).body).toEqual({ data: [] });

  const { body: code } = await own.live.get(pathOf({ id: a }));
  await scan(code);
  await scan((await own.live.post('/v1/qrcodes', newCode())).body);
  await eventually(async () => {
    const total = async (query: string) =>
      (await own.live.get(`/v1/analytics/aggregate${query}`)).body.summary.total_scans;
    expect([await total(''), await total('?tag=Summer'), await total('?tag=none')]).toEqual([2, 1, 0]);
  });
  const { body: aggregate } = await own.live.get('/v1/analytics/aggregate?tag=table');
  expect(aggregate).toMatchObject({
    summary: { total_scans: 1, total_qrcodes: 2, active_qrcodes: 2 },
    top_qrcodes: [{ qr_id: a, scans: 1 }],
  });
  for (const [query, codes] of [
    ['tag=summer&tag=table', 2],
    ['tag=Summer&tag=table&tag_match=all', 1],
    ['tag=summer&tag=none&tag_match=all', 0],
  ] as const) {
    const { body } = await own.live.get(`/v1/analytics/aggregate?${query}`);
    expect(body.summary.total_qrcodes, query).toBe(codes);
  }
  const { body: none } = await own.live.get(`/v1/analytics/aggregate?tag=summer&qr_id=${b}`);
  expect(none.summary).toMatchObject({ total_scans: 0, total_qrcodes: 0 });
  const { text } = await own.live.get('/v1/analytics/export?tag=summer');
  expect(text.trimEnd().split('\r\n')).toHaveLength(2);
});
