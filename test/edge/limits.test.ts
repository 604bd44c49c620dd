import { beforeAll, describe, expect, test } from 'vitest';
import { block } from '../../src/codes/blocked-hosts.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { created } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { atOnce, countStatuses } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ instances: 2 });
let account: TestAccount;
beforeAll(async () => {
  account = await service.account();
});

const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1';
const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

interface Created {
  id: string;
  short_code: string;
}

const create = async (fields: Record<string, unknown>): Promise<Created> => await created(account.live, fields);

const scan = async ({ short_code }: Created, i = 0, agent = iphone) => {
  const { status, headers, body } = await service.client(i % 2).get(`/${short_code}`, {
    'user-agent': agent,
    'x-forwarded-for': `10.1.${i >> 8}.${i & 255}`,
    accept: 'application/json',
  });
  return { status, location: headers.get('location'), code: body?.error?.code };
};

const read = async ({ id }: Created) => (await account.live.get(`/v1/qrcodes/${id}`)).body;
const storedOf = async ({ id }: Created) => {
  await service.allStored();
  return service.database.sql<{ is_bot: boolean; rule: string | null }[]>`
    SELECT is_bot, rule FROM scans WHERE code = ${id} ORDER BY position`;
};

describe('a code with max_scans', () => {
  test('verify compares its count with the log, and finds a wrong one and a missing one', async () => {
    const { sql } = service.database;
    const code = await create({ fallback_url: 'https://example.com/closed' });
    await scan(code);
    await account.live.patch(`/v1/qrcodes/${code.id}`, { max_scans: 2 });
    // The second instance may not have the limit yet.
    await scan(code, 2, crawler);
    for (const i of [4, 6]) await scan(code, i);
    await service.allStored();
    const found = async () => (await verify({ sql, warehouse: service.warehouse, account: account.id })).differences;
    expect(await found()).toEqual([]);
    const set = (used: number) => sql`
      INSERT INTO limited_scans VALUES (${code.id}, ${used}) ON CONFLICT (code) DO UPDATE SET used = ${used}`;
    for (const wrong of [0, 1, 3]) {
      await set(wrong);
      const difference = { what: 'max_scans', code: code.id, log: '2 scans that count', found: `${wrong}` };
      // A scan that follows the limit by less than a minute may be one that an instance without the limit has stored.
      expect(await found()).toEqual(wrong === 1 ? [] : [difference]);
    }
    await sql`DELETE FROM limited_scans WHERE code = ${code.id}`;
    expect(await found()).toMatchObject([{ what: 'max_scans', code: code.id, found: 'no count' }]);
    await set(2);
  });

  test('300 at once on two instances: exactly as many are redirected, and stored', async () => {
    const code = await create({ max_scans: 120 });
    const responses = await atOnce(300, (i) => scan(code, i));
    expect(countStatuses(responses)).toEqual({ 302: 120, 404: 180 });
    expect(new Set(responses.map(({ code: error }) => error))).toEqual(new Set([undefined, 'limit_reached']));
    expect(await storedOf(code)).toHaveLength(120);
    expect(await read(code)).toMatchObject({ availability: 'limit_reached', remaining_scans: 0, status: 'active' });
    const { body } = await account.live.get('/v1/qrcodes?availability=limit_reached');
    expect(body.data.map(({ id }: Created) => id)).toContain(code.id);
    const history = await eventually(async () => {
      const { body: changes } = await account.live.get(`/v1/qrcodes/${code.id}/history`);
      expect(changes.data).toHaveLength(2);
      return changes.data;
    });
    expect(history[0]).toMatchObject({ event: 'limit_reached', to: 'limit_reached', key_id: 'scanlog' });
  });

  test('bots do not use it up, and get what people get', async () => {
    const code = await create({ max_scans: 2 });
    for (let i = 0; i < 3; i++) expect((await scan(code, i, crawler)).status).toBe(302);
    expect((await scan(code, 0)).status).toBe(302);
    expect(await read(code)).toMatchObject({ availability: 'live', remaining_scans: 1 });
    expect((await scan(code, 0)).status, 'the same visitor counts again').toBe(302);
    expect((await scan(code, 1)).status).toBe(404);
    expect((await scan(code, 1, crawler)).status).toBe(404);
    expect(await storedOf(code)).toHaveLength(5);
  });

  test('beyond it people go to the fallback, which is recorded and not counted', async () => {
    const code = await create({ max_scans: 1, fallback_url: 'https://example.com/closed' });
    expect((await scan(code, 0)).location).toBe('https://example.com/menu');
    for (const i of [1, 2, 3]) expect((await scan(code, i)).location).toBe('https://example.com/closed');
    expect((await storedOf(code)).map(({ rule }) => rule)).toEqual([
      null,
      ...Array(3).fill(expect.stringMatching(/^f/)),
    ]);
    await account.live.patch(`/v1/qrcodes/${code.id}`, { max_scans: 2 });
    expect(await read(code)).toMatchObject({ availability: 'live', remaining_scans: 1 });
  });

  test('beyond it a fallback on a blocked host is not followed, also by a scan that lost the race for the last place', async () => {
    const elsewhere = 'https://fallback-of-a-limit.example/';
    const code = await create({ max_scans: 1, fallback_url: elsewhere });
    const blocked = await create({ destination_url: elsewhere });
    await block(service.database.sql, new URL(elsewhere).host, new Date());
    for (const i of [0, 1]) await eventually(async () => expect((await scan(blocked, i)).status).toBe(410));
    expect(countStatuses(await atOnce(4, (i) => scan(code, i)))).toEqual({ 302: 1, 410: 3 });
    expect(await storedOf(code)).toHaveLength(1);
  });

  test('raised after it was reached, or removed, it redirects again on every instance', async () => {
    const code = await create({ max_scans: 2 });
    await atOnce(4, (i) => scan(code, i));
    await eventually(async () => {
      const { body } = await account.live.get(`/v1/qrcodes/${code.id}/history`);
      expect(body.data[0].event).toBe('limit_reached');
    });
    await account.live.patch(`/v1/qrcodes/${code.id}`, { max_scans: 5 });
    expect((await scan(code, 0)).status).toBe(302);
    await eventually(async () => expect((await scan(code, 1)).status).toBe(302));
    await account.live.patch(`/v1/qrcodes/${code.id}`, { max_scans: null });
    expect((await scan(code, 2)).status).toBe(302);
    expect(await read(code)).not.toHaveProperty('remaining_scans');
  });

  test('set later, it counts the scans until then', async () => {
    const code = await create({});
    await atOnce(3, (i) => scan(code, 2 * i));
    await scan(code, 0, crawler);
    await service.allStored();
    const { body } = await account.live.patch(`/v1/qrcodes/${code.id}`, { max_scans: 4 });
    expect(body).toMatchObject({ max_scans: 4, remaining_scans: 1, availability: 'live' });
    expect((await scan(code, 0)).status).toBe(302);
    expect((await scan(code, 0)).status).toBe(404);
    await account.live.patch(`/v1/qrcodes/${code.id}`, { max_scans: null });
    await scan(code, 0);
    await service.allStored();
    const { body: again } = await account.live.patch(`/v1/qrcodes/${code.id}`, { max_scans: 10 });
    expect(again.remaining_scans).toBe(5);
  });

  test('changes of the limit and scans at the same time do not block each other', async () => {
    const code = await create({ max_scans: 1 });
    const changes = (async () => {
      for (let i = 2; i < 12; i++)
        expect((await account.live.patch(`/v1/qrcodes/${code.id}`, { max_scans: i % 3 ? i : null })).status).toBe(200);
      await account.live.patch(`/v1/qrcodes/${code.id}`, { max_scans: 200 });
    })();
    const responses = await atOnce(150, async (i) => {
      if (i % 5 === 0) await changes;
      return scan(code, i);
    });
    expect(Object.keys(countStatuses(responses)).filter((status) => status === '503')).toEqual([]);
  });
});
