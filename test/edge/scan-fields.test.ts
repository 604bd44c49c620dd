import { beforeAll, describe, expect, test } from 'vitest';
import { created } from '../support/api.ts';
import { atOnce } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ instances: 2 });
let account: TestAccount;
beforeAll(async () => {
  account = await service.account();
});

const agents = {
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1',
  samsung:
    'Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36',
  desktop:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0',
  crawler: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
};

interface Created {
  id: string;
  short_code: string;
}

async function given(): Promise<Created> {
  return await created(account.live);
}

/** Scans as this visitor, on either instance. */
async function scan({ short_code }: Created, from: { address?: string; agent?: string }, instance = 0): Promise<void> {
  const headers = {
    'x-forwarded-for': from.address ?? '203.0.113.1',
    'user-agent': from.agent ?? agents.iphone,
  };
  const { status } = await service.client(instance).get(`/${short_code}`, headers);
  expect(status).toBe(302);
}

interface Scan {
  id: string;
  country: string;
  region: string;
  city: string;
  device: string;
  browser: string;
  is_bot: boolean;
  visitor: string;
  is_unique: boolean;
  revision: number;
  account: string;
  mode: string;
}

const scansOf = async ({ id }: Created) => {
  await service.allStored();
  return service.database.sql<Scan[]>`SELECT * FROM scans WHERE code = ${id} ORDER BY position`;
};

describe('a scan', () => {
  test.each([
    ['an iPhone', agents.iphone, { device: 'ios', browser: 'safari', is_bot: false }],
    ['a Galaxy', agents.samsung, { device: 'android', browser: 'samsung_browser', is_bot: false }],
    ['a PC', agents.desktop, { device: 'desktop', browser: 'chrome', is_bot: false }],
    ['Firefox', agents.firefox, { device: 'desktop', browser: 'other', is_bot: false }],
    ['a crawler', agents.crawler, { device: 'desktop', browser: 'other', is_bot: true }],
    ['an empty user agent', '', { device: 'desktop', browser: 'other', is_bot: true }],
  ])('by %s has its device and browser', async (_, agent, expected) => {
    const code = await given();
    await scan(code, { agent });
    expect(await scansOf(code)).toMatchObject([
      { ...expected, id: expect.stringMatching(/^scan_[0-9A-Za-z]{20,}$/), account: account.id, mode: 'live' },
    ]);
  });

  test.each([
    ['sec-purpose', 'prefetch', true],
    ['sec-purpose', 'prefetch;prerender', true],
    ['Sec-Purpose', 'prefetch;anonymous-client-ip', true],
    ['purpose', 'prefetch', true],
    ['purpose', 'preview', true],
    ['x-purpose', 'preview', true],
    ['X-Purpose', 'Preview', true],
    ['x-moz', 'prefetch', true],
    ['sec-purpose', '', false],
    ['purpose', 'navigate', false],
    ['x-moz', 'microsummary', false],
  ])('with %s: %s is redirected, and recorded with is_bot %s', async (name, value, is_bot) => {
    const code = await given();
    const headers = { 'user-agent': agents.iphone, [name]: value };
    expect((await service.client(0).get(`/${code.short_code}`, headers)).status).toBe(302);
    expect(await scansOf(code)).toMatchObject([{ is_bot, device: 'ios', is_unique: true }]);
  });

  test.each([
    ['8.8.8.8', 'US'],
    ['2a00:1450:4001:80f::200e', expect.stringMatching(/^[A-Z]{2}$/)],
    ['::ffff:8.8.8.8', 'US'],
    ['10.1.2.3', 'XX'],
    ['203.0.113.1', 'XX'],
  ])('from %s has the country %s', async (address, country) => {
    const code = await given();
    await scan(code, { address });
    const [stored] = await scansOf(code);
    expect(stored?.country).toEqual(country);
    if (country === 'XX') expect([stored?.region, stored?.city]).toEqual(['Unknown', 'Unknown']);
  });

  test('has the client address from the right end of X-Forwarded-For', async () => {
    const code = await given();
    for (const address of ['8.8.8.8', '1.1.1.1, 8.8.8.8', 'garbage, 8.8.8.8', '8.8.8.8, 127.0.0.1, ::1'])
      await scan(code, { address });
    const scans = await scansOf(code);
    expect(scans.map(({ country }) => country)).toEqual(['US', 'US', 'US', 'US']);
    expect(new Set(scans.map(({ visitor }) => visitor)).size, 'one visitor').toBe(1);
  });

  test('has the revision of its destination', async () => {
    const code = await given();
    await scan(code, {});
    await account.live.patch(`/v1/qrcodes/${code.id}`, { destination_url: 'https://example.com/2' });
    await scan(code, {});
    await account.live.patch(`/v1/qrcodes/${code.id}`, { name: 'Only its name' });
    await scan(code, {});
    await account.live.patch(`/v1/qrcodes/${code.id}`, { destination_url: 'https://example.com/3' });
    await scan(code, {});
    expect((await scansOf(code)).map(({ revision }) => revision)).toEqual([1, 2, 2, 3]);
  });
});

describe('a visitor', () => {
  test('is unique once per code, by address and user agent', async () => {
    const code = await given();
    await scan(code, { address: '203.0.113.1' });
    await scan(code, { address: '203.0.113.1' }, 1);
    await scan(code, { address: '203.0.113.2' }, 1);
    await scan(code, { address: '203.0.113.2', agent: agents.desktop });
    await scan(code, { address: '::ffff:203.0.113.1' });
    expect((await scansOf(code)).map(({ is_unique }) => is_unique)).toEqual([true, false, true, true, false]);
  });

  test('with IPv6 is the same within a /64, and another outside', async () => {
    const code = await given();
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1']) await scan(code, { address });
    expect((await scansOf(code)).map(({ is_unique }) => is_unique)).toEqual([true, false, true]);
  });

  test('has a different hash for each code', async () => {
    const codes = [await given(), await given(), await given()];
    for (const code of codes) await scan(code, { address: '203.0.113.77' });
    const visitors = (await Promise.all(codes.map(scansOf))).flat();
    expect(visitors.map(({ is_unique }) => is_unique)).toEqual([true, true, true]);
    expect(new Set(visitors.map(({ visitor }) => visitor)).size).toBe(3);
  });

  test('who scans 20 times at once on two instances is unique once', async () => {
    const code = await given();
    await atOnce(20, (i) => scan(code, { address: '203.0.113.9' }, i % 2));
    const scans = await scansOf(code);
    expect(scans).toHaveLength(20);
    expect(scans.map(({ is_unique }) => is_unique)).toEqual([true, ...Array(19).fill(false)]);
  });
});
