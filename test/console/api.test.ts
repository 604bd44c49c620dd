import { describe, expect, onTestFinished, test } from 'vitest';
import { limitsOf } from '../../events/plans.ts';
import { fileNames } from '../../src/console/selection.ts';
import { created, type Json, newCode } from '../support/api.ts';
import { openTab, type Tab } from '../support/console.ts';
import { eventually } from '../support/eventually.ts';
import { atOnce, blamedFields, countStatuses } from '../support/http.ts';
import { endWindows, holdWindows } from '../support/rate-windows.ts';
import { useService } from '../support/service.ts';
import { readZip } from '../support/zip.ts';

const service = useService();

async function createSignedInAccount(
  plan?: Parameters<typeof service.account>[0],
): Promise<Awaited<ReturnType<typeof service.account>> & { tab: Tab }> {
  const account = await service.account(plan);
  const tab = openTab(service.urls[0] as string);
  await tab.signIn(account.keys.live);
  return { ...account, tab };
}

/** Keeps the rate limit windows open until the test ends. */
async function holdAllWindows(): Promise<void> {
  const { sql } = service.database;
  onTestFinished(() => endWindows(sql));
  await holdWindows(sql);
}

describe('the time zone', () => {
  test('is asked for until someone has chosen one, UTC included', async () => {
    const { tab, live } = await createSignedInAccount();
    const isAsked = async () => /asks_time_zone&quot;:true/.test((await tab.get('/console')).text);
    expect(await isAsked()).toBe(true);
    expect((await live.patch('/v1/account', { timezone: 'UTC' })).body.timezone).toBe('UTC');
    expect(await isAsked()).toBe(false);
    const updates = (await live.get('/v1/account/audit?type=account.updated')).body.data;
    expect(updates.map(({ data }: Json) => [data.from, data.to])).toEqual([['UTC', 'UTC']]);
    await live.patch('/v1/account', { timezone: 'UTC' });
    expect((await live.get('/v1/account/audit?type=account.updated')).body.data, 'once').toHaveLength(1);
  });
});

describe('the console API', () => {
  test('serves the operations of /v1 with the same results as an API key', async () => {
    const { tab, live } = await createSignedInAccount();
    const created = await tab.send('POST', '/console/api/qrcodes', newCode({ name: 'From the console' }));
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect((await live.get(`/v1/qrcodes/${id}`)).body).toEqual({ ...created.body, version: 1, availability: 'live' });
    expect((await tab.send('PATCH', `/console/api/qrcodes/${id}`, { active: false })).body.status).toBe('paused');
    const { body: history } = await live.get(`/v1/qrcodes/${id}/history`);
    expect((await tab.get(`/console/api/qrcodes/${id}/history`)).body).toEqual(history);
    const liveKey = (await live.get('/v1/account/keys')).body.data.find(({ mode }: Json) => mode === 'live');
    expect(history.data[0].key_id, 'the history names the key of the session').toBe(liveKey.id);
    const image = await tab.get(`/console/api/qrcodes/${id}/download?format=svg`);
    expect(image.text).toBe((await live.get(`/v1/qrcodes/${id}/download?format=svg`)).text);
    expect((await tab.send('DELETE', `/console/api/qrcodes/${id}`)).body).toEqual({ deleted: true, id });
    expect((await tab.get(`/console/api/qrcodes/${id}`)).status).toBe(404);
  });

  test('returns the errors of the API for invalid bodies, unknown paths and wrong methods', async () => {
    const { tab } = await createSignedInAccount();
    const created = await tab.send('POST', '/console/api/qrcodes', { name: '' });
    expect(created.status).toBe(400);
    expect(blamedFields(created)).toEqual(['name', 'destination_url']);
    expect((await tab.get('/console/api/account?mode=live')).status).toBe(200);
    expect(blamedFields(await tab.get('/console/api/account?mode=live&model=x'))).toEqual(['model']);
    expect((await tab.get('/console/api/nothing')).body.error.code).toBe('not_found');
    expect((await tab.get('/console/api')).body.error.code).toBe('not_found');
    expect((await tab.get('/console/api/short-codes/check')).body.error.code).toBe('method_not_allowed');
    expect((await tab.send('PUT', '/console')).body.error.code).toBe('method_not_allowed');
  });

  test('answers null where nothing is set, which /v1 answers with 404', async () => {
    const { tab, live } = await createSignedInAccount();
    expect((await live.get('/v1/account/webhook')).status).toBe(404);
    const unset = await tab.get('/console/api/account/webhook');
    expect([unset.status, unset.body]).toEqual([200, null]);
  });

  test('rejects API keys, and /v1 rejects sessions', async () => {
    const { tab, keys } = await createSignedInAccount();
    const signedOutTab = openTab(service.urls[0] as string);
    const withKey = { 'sec-fetch-site': 'same-origin', authorization: `Bearer ${keys.live}` };
    expect((await signedOutTab.get('/console/api/account', withKey)).status).toBe(401);
    expect((await tab.get('/v1/account')).status).toBe(401);
  });

  test.each([
    ['a form on another site', { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' }],
    ['another subdomain', { 'sec-fetch-site': 'same-site', 'content-type': 'application/json' }],
    [
      'another site in a browser without Sec-Fetch-Site',
      { origin: 'https://evil.example', 'content-type': 'application/json' },
    ],
    ['a page with the origin null', { origin: 'null', 'content-type': 'application/json' }],
    ['a form on our own origin', { 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' }],
  ])('rejects a write from %s', async (_, headers) => {
    const { tab, live } = await createSignedInAccount();
    const response = await tab.send(
      'POST',
      '/console/api/qrcodes',
      newCode(),
      headers as unknown as Record<string, string>,
    );
    expect(response.status).toBe(401);
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(0);
  });

  test('rejects reads from other sites', async () => {
    const { tab } = await createSignedInAccount();
    for (const site of ['cross-site', 'same-site'])
      expect((await tab.get('/console/api/account', { 'sec-fetch-site': site })).status).toBe(401);
    expect((await tab.get('/console/api/account', { 'sec-fetch-site': 'none' })).status).toBe(200);
  });

  test('accepts a write with our own Origin from a browser without Sec-Fetch-Site', async () => {
    const { tab } = await createSignedInAccount();
    const origin = service.urls[0] as string;
    const headers = { origin, 'content-type': 'application/json' };
    expect((await tab.send('POST', '/console/api/qrcodes', newCode(), headers)).status).toBe(201);
  });

  test('allows 600 reads per minute, which do not count toward the limit of the plan', async () => {
    const { tab, live } = await createSignedInAccount('free');
    expect((await tab.get('/console/api/account/keys')).status).toBe(200);
    await holdAllWindows();
    const responses = await atOnce(604, () => tab.get('/console/api/account/keys'));
    expect(countStatuses(responses)).toEqual({ 200: 599, 429: 5 });
    expect((await live.get('/v1/account')).body.usage.requests).toBe(1);
  });

  test('counts writes toward the limit of the plan, together with API requests', async () => {
    const { tab, keys } = await createSignedInAccount('free');
    const { requestsPerMinute } = limitsOf.free;
    // Not with `live`, for which a window ends within a minute.
    const read = () => fetch(`${service.urls[0]}/v1/qrcodes`, { headers: { authorization: `Bearer ${keys.live}` } });
    for (let i = 0; i < 4; i++) {
      expect((await read()).status).toBe(200);
      if (i === 0) await holdAllWindows();
    }
    const responses = await atOnce(requestsPerMinute, () => tab.send('POST', '/console/api/qrcodes', newCode()));
    expect(countStatuses(responses)).toEqual({ 201: requestsPerMinute - 4, 429: 4 });
    const limited = responses.find(({ status }) => status === 429);
    expect(limited?.headers.get('x-ratelimit-limit')).toBe(String(requestsPerMinute));
    expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(limited?.body.error.message).toContain('changes in the console');
    expect((await read()).status, 'the API shares the limit').toBe(429);
    expect((await tab.get('/console/api/qrcodes')).body.pagination.total, 'reads are still allowed').toBe(
      requestsPerMinute - 4,
    );
    const check = { short_codes: ['abc'] };
    expect(
      (await tab.send('POST', '/console/api/short-codes/check', check)).status,
      'a short code check counts as a read',
    ).toBe(200);
  });
});

describe('a session opened with a test key', () => {
  test('lists, creates and revokes test keys only, even when a request names live mode', async () => {
    const { live, keys } = await service.account();
    const tab = openTab(service.urls[0] as string);
    await tab.signIn(keys.test);
    const listed = (await tab.get('/console/api/account/keys?mode=test')).body.data;
    expect(listed.map(({ mode }: Json) => mode)).toEqual(['test']);
    const refused = await tab.send('POST', '/console/api/account/keys?mode=test', { name: 'Mine', mode: 'live' });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'live_key_required']);
    expect((await tab.send('POST', '/console/api/account/keys?mode=live', { name: 'Mine' })).status).toBe(401);
    const liveKey = (await live.get('/v1/account/keys')).body.data.find(({ mode }: Json) => mode === 'live');
    expect((await tab.send('DELETE', `/console/api/account/keys/${liveKey.id}?mode=test`)).status).toBe(404);
    expect((await live.get('/v1/account')).status).toBe(200);
  });
});

describe('several codes at once', () => {
  test('are paused, resumed and deleted with one request, which reports what it could not change', async () => {
    const { tab, live } = await createSignedInAccount('free');
    const other = await service.account();
    const codes = (await live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(), newCode(), newCode()] })).body.data;
    const ids = codes.map(({ id }: Json) => id);
    const foreign = (await other.live.post('/v1/qrcodes', newCode())).body;
    const statuses = async () => (await live.get('/v1/qrcodes')).body.data.map(({ status }: Json) => status);

    const paused = await tab.send('POST', '/console/api/selection/change', {
      ids: [...ids, foreign.id],
      active: false,
    });
    expect(paused.body).toEqual({
      changed: ids,
      failed: [{ id: foreign.id, message: 'There is no such QR code.' }],
    });
    expect(await statuses()).toEqual(['paused', 'paused', 'paused']);
    const scan = await fetch(`${service.urls[0]}/${codes[0].short_code}`, { redirect: 'manual' });
    expect(scan.status, 'at once').toBe(404);
    await tab.send('POST', '/console/api/selection/change', { ids: ids.slice(1), active: true });
    expect(await statuses()).toEqual(['active', 'active', 'paused']);
    const deleted = await tab.send('POST', '/console/api/selection/delete', { ids });
    expect(deleted.body).toEqual({ changed: ids, failed: [] });
    expect(await statuses()).toEqual([]);
    expect((await other.live.get(`/v1/qrcodes/${foreign.id}`)).body.status).toBe('active');
    for (const invalid of [{ ids: [] }, { ids: Array(101).fill(ids[0]) }, {}])
      expect((await tab.send('POST', '/console/api/selection/delete', invalid)).status).toBe(400);
  });

  test('are tagged together, and show availability and tags', async () => {
    const { tab, live } = await createSignedInAccount();
    const bulk = {
      qrcodes: [
        newCode({ tags: ['menu', 'old'] }),
        newCode({ expires_at: '2020-01-01T00:00:00Z' }),
        newCode({ tags: Array.from({ length: 20 }, (_, i) => `tag ${i}`) }),
      ],
    };
    const ids = (await live.post('/v1/qrcodes/bulk', bulk)).body.data.map(({ id }: Json) => id);
    const change = { ids, add: ['Summer'], remove: ['Old'] };
    const { body } = await tab.send('POST', '/console/api/selection/tags', change);
    expect(body.changed).toEqual(ids.slice(0, 2));
    expect(body.failed).toEqual([{ id: ids[2], message: 'tags must have at most 20 tags.' }]);
    const marks = (await tab.get(`/console/api/selection?ids=${ids.slice(0, 2).join(',')}`)).body.data;
    const byId = new Map(marks.map((mark: Json) => [mark.id, mark]));
    expect(byId.get(ids[0])).toEqual({ id: ids[0], availability: 'live', tags: ['menu', 'Summer'] });
    expect(byId.get(ids[1])).toEqual({ id: ids[1], availability: 'expired', tags: ['Summer'] });
    expect((await tab.get('/console/api/selection?ids=all')).status).toBe(400);
  });

  test('counts the scans of a page of codes on each of 30 days in one read', async () => {
    const { tab, live } = await createSignedInAccount();
    const codes = [await created(live), await created(live)];
    for (let i = 0; i < 3; i++) await fetch(codes[0]?.['short_url'], { redirect: 'manual' });
    const ids = codes.map(({ id }) => id).join(',');
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10);
    const today = inHours(0);
    const read = (query: string) => tab.get(`/console/api/selection/scans?ids=${ids}&${query}`);
    await eventually(async () => {
      const { body } = await read(`end_date=${inHours(14)}&timezone=Pacific/Kiritimati`);
      expect(body.data.map(({ id, total_scans }: Json) => [id, total_scans])).toEqual([
        [codes[0]?.['id'], 3],
        [codes[1]?.['id'], 0],
      ]);
      for (const { days } of body.data) expect(days).toHaveLength(30);
    });
    const tomorrow = (await read(`end_date=${inHours(24)}`)).body.data[0].days;
    expect([tomorrow.length, tomorrow.at(-1)]).toEqual([30, 0]);
    expect((await read(`end_date=${today}&bots=exclude`)).body.data[0].total_scans, 'scans by programs').toBe(0);
    const other = await createSignedInAccount();
    const { body } = await other.tab.get(`/console/api/selection/scans?ids=${ids}&end_date=${today}`);
    expect(body.data[0].total_scans, 'scans of another account').toBe(0);
    for (const wrong of ['', 'end_date=today', `end_date=${today}&timezone=Mars`])
      expect((await read(wrong)).status, wrong).toBe(400);
    const tooMany = Array.from({ length: 101 }, () => codes[0]?.['id']).join(',');
    expect((await tab.get(`/console/api/selection/scans?ids=${tooMany}&end_date=${today}`)).status).toBe(400);
  });

  test('are downloaded as a ZIP file of the images that single downloads return', async () => {
    const { tab, live } = await createSignedInAccount();
    const bulk = { qrcodes: [newCode(), newCode({ style: { dotsColor: '#7A1F4B' } })] };
    const codes = (await live.post('/v1/qrcodes/bulk', bulk)).body.data;
    const ids = codes.map(({ id }: Json) => id).join(',');
    const queries = [
      ['png', 'size=512'],
      ['png', 'width_mm=30&dpi=300'],
      ['svg', 'size=512'],
      ['pdf', 'width_mm=40&color=cmyk'],
      ['eps', 'width_mm=40'],
    ];
    for (const [format, options] of queries) {
      const path = `/console/api/selection/images?ids=${ids},qr_0000000000000000000000&format=${format}&${options}`;
      const response = await fetch(`${service.urls[0]}${path}`, {
        headers: { cookie: tab.cookie as string, 'sec-fetch-site': 'same-origin' },
      });
      expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="qr-codes-[\d-]+\.zip"$/);
      const files = readZip(Buffer.from(await response.arrayBuffer()));
      const single = await Promise.all(
        codes.toReversed().map(async ({ id, short_code }: Json) => {
          const path = `/console/api/qrcodes/${id}/download?format=${format}&${options}`;
          const image = await fetch(`${service.urls[0]}${path}`, { headers: { cookie: tab.cookie as string } });
          return [`${short_code}.${format}`, Buffer.from(await image.arrayBuffer())];
        }),
      );
      expect(files.map(({ name, bytes }) => [name, bytes])).toEqual(single);
    }
    expect((await tab.get('/console/api/selection/images?ids=qr_0&format=png&size=512')).status).toBe(404);
    const refused = [
      'format=gif&size=512',
      'size=255',
      'width_mm=5&dpi=72',
      'format=pdf&size=400',
      'format=svg&dpi=300',
    ];
    for (const query of refused)
      expect((await tab.get(`/console/api/selection/images?ids=${ids}&${query}`)).status, query).toBe(400);
  });

  test('have file names that differ in more than case', () => {
    const codes = ['Menu', 'menu', 'other', 'MENU'].map((short_code, i) => ({ id: String(i), short_code }));
    expect([...fileNames(codes).values()]).toEqual(['Menu', 'menu-2', 'other', 'MENU-3']);
  });
});

describe('the short code check', () => {
  test('reports which short codes are available, taken or invalid', async () => {
    const { tab, live } = await createSignedInAccount();
    const taken = `taken-${Math.random().toString(36).slice(2, 8)}`;
    await live.post('/v1/qrcodes', newCode({ short_code: taken }));
    const { body } = await tab.send('POST', '/console/api/short-codes/check', {
      short_codes: [taken, taken.toUpperCase(), `${taken}-2`, 'a', 'console'],
    });
    expect(body.data).toEqual([
      { short_code: taken, fault: 'is taken; choose another' },
      {
        short_code: taken.toUpperCase(),
        fault: `is taken by "${taken}", which differs only in case; choose another`,
      },
      { short_code: `${taken}-2`, fault: null },
      { short_code: 'a', fault: expect.stringContaining('must have 3 to 50') },
      { short_code: 'console', fault: expect.stringContaining('the service itself uses that word') },
    ]);
    expect((await tab.send('POST', '/console/api/short-codes/check', { short_codes: [] })).status).toBe(400);
  });
});
