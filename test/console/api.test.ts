import { describe, expect, test } from 'vitest';
import { limitsOf } from '../../events/plans.ts';
import { type Json, newCode } from '../support/api.ts';
import { openTab, type Tab } from '../support/console.ts';
import { atOnce, blamedFields, countStatuses } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService();

async function signedIn(
  plan?: Parameters<typeof service.account>[0],
): Promise<Awaited<ReturnType<typeof service.account>> & { tab: Tab }> {
  const account = await service.account(plan);
  const tab = openTab(service.urls[0] as string);
  await tab.signIn(account.keys.live);
  return { ...account, tab };
}

describe('behind a session', () => {
  test('every operation of /v1 answers as it does to a key', async () => {
    const { tab, live } = await signedIn();
    const made = await tab.send('POST', '/console/api/qrcodes', newCode({ name: 'Made here' }));
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect((await live.get(`/v1/qrcodes/${id}`)).body).toEqual(made.body);
    expect((await tab.send('PATCH', `/console/api/qrcodes/${id}`, { active: false })).body.status).toBe('paused');
    const { body: byKey } = await live.get(`/v1/qrcodes/${id}/history`);
    expect((await tab.get(`/console/api/qrcodes/${id}/history`)).body).toEqual(byKey);
    const first = (await live.get('/v1/account/keys')).body.data.find(({ mode }: Json) => mode === 'live');
    expect(byKey.data[0].key_id, 'the key that signed in is who did it').toBe(first.id);
    const picture = await tab.get(`/console/api/qrcodes/${id}/download?format=svg`);
    expect(picture.text).toBe((await live.get(`/v1/qrcodes/${id}/download?format=svg`)).text);
    expect((await tab.send('DELETE', `/console/api/qrcodes/${id}`)).body).toEqual({ deleted: true, id });
    expect((await tab.get(`/console/api/qrcodes/${id}`)).status).toBe(404);
  });

  test('errors are the API’s, for every path and method', async () => {
    const { tab } = await signedIn();
    const created = await tab.send('POST', '/console/api/qrcodes', { name: '' });
    expect(created.status).toBe(400);
    expect(blamedFields(created)).toEqual(['name', 'destination_url']);
    expect((await tab.get('/console/api/nothing')).body.error.code).toBe('not_found');
    expect((await tab.get('/console/api')).body.error.code).toBe('not_found');
    expect((await tab.get('/console/api/short-codes/check')).body.error.code).toBe('method_not_allowed');
    expect((await tab.send('PUT', '/console')).body.error.code).toBe('method_not_allowed');
  });

  test('a key is no way in, and a session is none to /v1', async () => {
    const { tab, keys } = await signedIn();
    const stranger = openTab(service.urls[0] as string);
    const withKey = { 'sec-fetch-site': 'same-origin', authorization: `Bearer ${keys.live}` };
    expect((await stranger.get('/console/api/account', withKey)).status).toBe(401);
    expect((await tab.get('/v1/account')).status).toBe(401);
  });

  test.each([
    ['a form of another site', { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' }],
    ['a neighbour under the same domain', { 'sec-fetch-site': 'same-site', 'content-type': 'application/json' }],
    ['an older browser on another site', { origin: 'https://evil.example', 'content-type': 'application/json' }],
    ['a page without an origin', { origin: 'null', 'content-type': 'application/json' }],
    ['our own origin, by a form', { 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' }],
  ])('%s changes nothing', async (_, headers) => {
    const { tab, live } = await signedIn();
    const answer = await tab.send(
      'POST',
      '/console/api/qrcodes',
      newCode(),
      headers as unknown as Record<string, string>,
    );
    expect(answer.status).toBe(401);
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(0);
  });

  test('another site reads nothing either', async () => {
    const { tab } = await signedIn();
    for (const site of ['cross-site', 'same-site'])
      expect((await tab.get('/console/api/account', { 'sec-fetch-site': site })).status).toBe(401);
    expect((await tab.get('/console/api/account', { 'sec-fetch-site': 'none' })).status).toBe(200);
  });

  test('an older browser on our own pages works', async () => {
    const { tab } = await signedIn();
    const origin = service.urls[0] as string;
    const headers = { origin, 'content-type': 'application/json' };
    expect((await tab.send('POST', '/console/api/qrcodes', newCode(), headers)).status).toBe(201);
  });

  test('600 reads a minute are let in, and none of them counts for the API', async () => {
    const { tab, live } = await signedIn('free');
    const answers = await atOnce(605, () => tab.get('/console/api/account/keys'));
    expect(countStatuses(answers)).toEqual({ 200: 600, 429: 5 });
    expect((await live.get('/v1/account')).body.usage.requests).toBe(1);
  });

  test('changes count in the plan’s window, together with the requests of programs', async () => {
    const { tab, live } = await signedIn('free');
    const { requestsPerMinute } = limitsOf.free;
    for (let i = 0; i < 4; i++) expect((await live.get('/v1/qrcodes')).status).toBe(200);
    const answers = await atOnce(requestsPerMinute, () => tab.send('POST', '/console/api/qrcodes', newCode()));
    expect(countStatuses(answers)).toEqual({ 201: requestsPerMinute - 4, 429: 4 });
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('x-ratelimit-limit')).toBe(String(requestsPerMinute));
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused?.body.error.message).toContain('changes in the console');
    expect((await live.get('/v1/qrcodes')).status, 'the API has the same window').toBe(429);
    expect((await tab.get('/console/api/qrcodes')).body.pagination.total, 'reading goes on').toBe(
      requestsPerMinute - 4,
    );
    const check = { short_codes: ['abc'] };
    expect((await tab.send('POST', '/console/api/short-codes/check', check)).status, 'a check is a read').toBe(200);
  });
});

describe('a session opened with a test key', () => {
  test('lists, creates and revokes test keys only, also by asking for live mode', async () => {
    const { live, keys } = await service.account();
    const tab = openTab(service.urls[0] as string);
    await tab.signIn(keys.test);
    const listed = (await tab.get('/console/api/account/keys?mode=test')).body.data;
    expect(listed.map(({ mode }: Json) => mode)).toEqual(['test']);
    const made = await tab.send('POST', '/console/api/account/keys?mode=test', { name: 'Mine', mode: 'live' });
    expect([made.status, made.body.error.code]).toEqual([403, 'live_key_required']);
    expect((await tab.send('POST', '/console/api/account/keys?mode=live', { name: 'Mine' })).status).toBe(401);
    const liveKey = (await live.get('/v1/account/keys')).body.data.find(({ mode }: Json) => mode === 'live');
    expect((await tab.send('DELETE', `/console/api/account/keys/${liveKey.id}?mode=test`)).status).toBe(404);
    expect((await live.get('/v1/account')).status).toBe(200);
  });
});

describe('short codes', () => {
  test('are told to be free, taken or wrong, before anything is made', async () => {
    const { tab, live } = await signedIn();
    const mine = `mine-${Math.random().toString(36).slice(2, 8)}`;
    await live.post('/v1/qrcodes', newCode({ short_code: mine }));
    const { body } = await tab.send('POST', '/console/api/short-codes/check', {
      short_codes: [mine, `${mine}-2`, 'a', 'console'],
    });
    expect(body.data).toEqual([
      { short_code: mine, fault: 'is taken; choose another' },
      { short_code: `${mine}-2`, fault: null },
      { short_code: 'a', fault: expect.stringContaining('must have 3 to 50') },
      { short_code: 'console', fault: expect.stringContaining('the service itself uses that word') },
    ]);
    expect((await tab.send('POST', '/console/api/short-codes/check', { short_codes: [] })).status).toBe(400);
  });
});
