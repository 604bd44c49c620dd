import { describe, expect, test } from 'vitest';
import { limitsOf, type Plan, plans } from '../../events/plans.ts';
import { setPlan } from '../../src/accounts/accounts.ts';
import { givenShortCodesOf } from '../../src/codes/quota.ts';
import { VersionTaken } from '../../src/log/version-taken.ts';
import { type Api, newCode } from '../support/api.ts';
import { uniqueName } from '../support/database.ts';
import { givenDomain } from '../support/domains.ts';
import { atOnce, countStatuses } from '../support/http.ts';
import { endWindows } from '../support/rate-windows.ts';
import { useService } from '../support/service.ts';

const maxTestCodes = 80;
const maxGivenShortCodes = 10;
const service = useService({ projections: false, instances: 2, config: { maxTestCodes, maxGivenShortCodes } });

const bulk = (client: Api, count: number) =>
  client.post('/v1/qrcodes/bulk', { qrcodes: Array.from({ length: count }, () => newCode()) });
const usage = async (client: Api) => (await client.get('/v1/account')).body.usage;

describe('never exceeded', () => {
  test.each<[Plan, number, number]>([
    ['free', 96, 9],
    ['pro', 35, 30],
    ['business', 230, 30],
  ])('%s with %i codes, %i concurrent creates on two instances: fills exactly', async (plan, before, wanted) => {
    const { live, keys } = await service.account(plan);
    const { codes } = limitsOf[plan];
    expect((await bulk(live, before)).status).toBe(201);
    await endWindows(service.database.sql);

    const responses = await atOnce(wanted, (i) => service.client(i % 2, keys.live).post('/v1/qrcodes', newCode()));

    expect(countStatuses(responses)).toEqual({ 201: codes - before, 403: wanted - (codes - before) });
    const refused = responses.find(({ status }) => status === 403);
    expect(refused?.body.error).toEqual({
      code: 'quota_exceeded',
      message: `The ${plan} plan allows ${codes} QR codes, and ${codes} exist: no more can be created. Delete some or change the plan.`,
    });
    await endWindows(service.database.sql);
    expect((await usage(live)).qr_codes).toBe(codes);
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(codes);
  });

  test('concurrent bulk and single creates share one quota over all keys of the account', async () => {
    const { live, keys } = await service.account('pro');
    const second = (await live.post('/v1/account/keys', { name: 'Second', mode: 'live' })).body.key;
    const responses = await atOnce(24, (i) => {
      const client = service.client(i % 2, i % 3 ? keys.live : second);
      return i % 2 ? bulk(client, 5) : client.post('/v1/qrcodes', newCode());
    });
    const created = responses.reduce(
      (sum, { status, body }) => sum + (status === 201 ? (body.data?.length ?? 1) : 0),
      0,
    );
    expect(created).toBeLessThanOrEqual(50);
    expect((await usage(live)).qr_codes).toBe(created);
    expect((await bulk(live, 51 - created)).status).toBe(403);
  });

  test('enterprise is unlimited', async () => {
    const { live } = await service.account('enterprise');
    expect((await bulk(live, 1_000)).status).toBe(201);
    expect((await live.get('/v1/account')).body).toMatchObject({
      limits: { qr_codes: null },
      usage: { qr_codes: 1_000 },
    });
  });
});

describe('test codes', () => {
  test('MAX_TEST_CODES is never exceeded by concurrent single and bulk creates on two instances', async () => {
    const { test: development, keys } = await service.account('enterprise');
    expect((await bulk(development, maxTestCodes - 12)).status).toBe(201);
    const responses = await atOnce(20, (i) => {
      const client = service.client(i % 2, keys.test);
      return i % 4 === 0 ? bulk(client, 5) : client.post('/v1/qrcodes', newCode());
    });
    const created = responses.reduce(
      (sum, { status, body }) => sum + (status === 201 ? (body.data?.length ?? 1) : 0),
      0,
    );
    expect(created).toBe(12);
    expect(await usage(development)).toMatchObject({ qr_codes: null, test_qr_codes: maxTestCodes });
    const refused = await development.post('/v1/qrcodes', newCode());
    expect([refused.status, refused.body.error]).toEqual([
      403,
      {
        code: 'quota_exceeded',
        message:
          'An account may have 80 test QR codes, and 80 exist: no more can be created. Delete some, or ask the operator to raise MAX_TEST_CODES.',
      },
    ]);
  });

  test('a bulk that exceeds the limit creates nothing and lists the items that exceed it; a delete makes room', async () => {
    const { test: development, live } = await service.account('enterprise');
    const { data } = (await bulk(development, maxTestCodes - 1)).body;
    const refused = await bulk(development, 3);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'quota_exceeded']);
    expect(refused.body.error.details).toMatchObject([{ index: 1 }, { index: 2 }]);
    expect((await development.post('/v1/qrcodes', newCode())).status).toBe(201);
    expect((await development.post('/v1/qrcodes', newCode())).status).toBe(403);
    await development.delete(`/v1/qrcodes/${data[0].id}`);
    expect((await development.post('/v1/qrcodes', newCode())).status).toBe(201);
    expect((await live.post('/v1/qrcodes', newCode())).status, 'live codes have a separate quota').toBe(201);
  });
});

describe('given short codes', () => {
  const chosen = () => ({ short_code: uniqueName().replaceAll('_', '-') });
  const givenCode = () => newCode(chosen());
  /** Creates codes with a given short code, and deletes them. */
  async function createAndDelete(client: Api, count: number): Promise<void> {
    const { data } = (await client.post('/v1/qrcodes/bulk', { qrcodes: Array.from({ length: count }, givenCode) }))
      .body;
    await atOnce(count, (i) => client.delete(`/v1/qrcodes/${data[i].id}`));
  }

  test('are limited over all ways to create, deleted ones included, until 30 days later', async () => {
    const { live, keys, id } = await service.account('business');
    const original = (await live.post('/v1/qrcodes', newCode())).body;
    await createAndDelete(live, maxGivenShortCodes - 5);
    const ways = [
      (client: Api) => client.post('/v1/qrcodes', givenCode()),
      (client: Api) => client.post('/v1/qrcodes/bulk', { qrcodes: [givenCode()] }),
      (client: Api) => client.post(`/v1/qrcodes/${original.id}/duplicate`, chosen()),
    ];
    const responses = await atOnce(12, (i) => (ways[i % 3] as (typeof ways)[0])(service.client(i % 2, keys.live)));
    expect(countStatuses(responses)).toEqual({ 201: 5, 403: 7 });
    const { error } = (await live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(), givenCode(), givenCode()] })).body;
    expect(error).toMatchObject({ code: 'quota_exceeded', details: [{ index: 1 }, { index: 2 }] });
    expect(error.message).toMatch(/^An account may choose 10 short codes in 30 days, .* 0 are left: .* after 20.*Z\.$/);
    expect((await bulk(live, 2)).status, 'generated ones').toBe(201);
    expect((await live.get('/v1/account')).body).toMatchObject({
      limits: { given_short_codes: maxGivenShortCodes },
      usage: { given_short_codes: maxGivenShortCodes },
    });
    await service.database.sql`UPDATE codes SET created_at = created_at - interval '30 days' WHERE account = ${id}`;
    expect((await live.post('/v1/qrcodes', givenCode())).status, 'after 30 days').toBe(201);
    await service.database.sql`UPDATE codes SET created_at = created_at + interval '30 days' WHERE account = ${id}`;
  });

  test('limit an upload of links to the service, in a dry run too, but not to a domain of the account', async () => {
    const { live, id } = await service.account('enterprise');
    const { name } = await givenDomain(service, id, 'given.example.com');
    const links = Array.from({ length: 12 }, (_, i) => `${uniqueName()},https://example.com/${i}`);
    const body = ['slug,url', ...links].join('\n');
    for (const [query, imported] of [
      ['?dry_run=true', maxGivenShortCodes],
      ['', maxGivenShortCodes],
      [`?source=dub&domain=${name}`, 12],
    ] as const) {
      const { text } = await live.send(`/v1/qrcodes/import${query}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'text/csv' },
      });
      const lines = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.at(-1), query).toMatchObject({ imported, refused: 12 - imported });
      if (imported < 12) expect(lines[11].reasons[0]).toMatch(/^An account may choose 10 short codes in 30 days/);
    }
  });

  test('of test codes are counted apart: a test key neither uses up nor reads the quota of live codes', async () => {
    const { live, test: development } = await service.account('business');
    await createAndDelete(development, maxGivenShortCodes);
    expect((await development.post('/v1/qrcodes', givenCode())).body.error.code).toBe('quota_exceeded');
    expect((await live.post('/v1/qrcodes', givenCode())).status).toBe(201);
    expect(await usage(development)).toMatchObject({ qr_codes: null, given_short_codes: maxGivenShortCodes });
    expect(await usage(live)).toMatchObject({ qr_codes: 1, given_short_codes: 1 });
  });

  test('are limited by the plan unless the operator sets a limit', () => {
    const limits = { testCodes: 1, givenShortCodes: undefined };
    expect(plans.map((plan) => givenShortCodesOf(plan, limits))).toEqual([200, 500, 1_000, 10_000]);
  });
});

describe('counting', () => {
  test('drafts and paused codes count', async () => {
    const { live } = await service.account('pro');
    const { data } = (await bulk(live, 49)).body;
    await live.patch(`/v1/qrcodes/${data[0].id}`, { active: false });
    expect((await live.post('/v1/qrcodes', newCode({ status: 'draft' }))).status).toBe(201);
    expect((await live.post('/v1/qrcodes', newCode({ status: 'draft' }))).status).toBe(403);
  });

  test('deleted codes do not count: a delete makes room for one', async () => {
    const { live } = await service.account('pro');
    const { data } = (await bulk(live, 50)).body;
    expect((await live.post('/v1/qrcodes', newCode())).status).toBe(403);
    await live.delete(`/v1/qrcodes/${data[7].id}`);
    expect((await live.post('/v1/qrcodes', newCode())).status).toBe(201);
    expect((await live.post('/v1/qrcodes', newCode())).status).toBe(403);
  });

  test('test codes do not count, and a full live quota does not stop them', async () => {
    const { live, test: development } = await service.account('pro');
    await bulk(live, 50);
    expect((await bulk(development, 60)).status).toBe(201);
    expect(await usage(live)).toMatchObject({ qr_codes: 50, test_qr_codes: 60 });
  });

  test('codes of other accounts do not count', async () => {
    const [one, two] = [await service.account('pro'), await service.account('pro')];
    await bulk(one.live, 50);
    expect((await bulk(two.live, 50)).status).toBe(201);
  });
});

describe('a change of plan', () => {
  test('applies from the next request on, up and down, and deletes nothing', async () => {
    const { live, id } = await service.account('pro');
    await bulk(live, 50);
    await setPlan(service.database.sql, id, 'free', new Date());
    expect((await live.post('/v1/qrcodes', newCode())).status, 'free has room for 100').toBe(201);
    await setPlan(service.database.sql, id, 'pro', new Date());
    const refused = await live.post('/v1/qrcodes', newCode());
    expect(refused.body.error.message).toContain('allows 50 QR codes, and 51 exist');
    expect((await live.get('/v1/qrcodes')).body.pagination.total, 'existing codes remain').toBe(51);
  });
});

describe('other concurrent work on the same account', () => {
  test('creates, new keys and plan changes do not deadlock', async () => {
    const { live, id, keys } = await service.account('enterprise');
    const creates = atOnce(40, (i) => service.client(i % 2, keys.live).post('/v1/qrcodes', newCode()));
    const newKeys = (async () => {
      const created = [];
      for (let i = 0; i < 10; i++) created.push(await live.post('/v1/account/keys', { name: `Key ${i}` }));
      return created;
    })();
    const changes = atOnce(1, async () => {
      for (let i = 0; i < 10; i++)
        await setPlan(service.database.sql, id, i % 2 ? 'enterprise' : 'business', new Date());
    }).catch((error) => expect(error, 'only a race lost twice').toBeInstanceOf(VersionTaken));
    expect(countStatuses(await creates)).toEqual({ 201: 40 });
    const { 201: created = 0, 409: lost = 0, ...others } = countStatuses(await newKeys);
    expect(others).toEqual({});
    expect(created + lost).toBe(10);
    await changes;
  });
});
