import { beforeAll, describe, expect, test } from 'vitest';
import { resume, suspend } from '../../../src/accounts/accounts.ts';
import { maxShares } from '../../../src/accounts/shares.ts';
import { replayState } from '../../../src/maintenance/replay-state.ts';
import { created, type Json } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { scanned } from '../../support/scans.ts';
import type { TestAccount } from '../../support/service.ts';
import { useFilledWarehouse } from '../../support/warehouse.ts';

let now = new Date('2026-03-15T10:20:30.456Z');
const { service, store } = useFilledWarehouse({ instances: 2, clock: () => now });

let account: TestAccount;
let menu: Json;
let terrace: Json;
let position = 0;

const storeScans = (count: number, fields: Parameters<typeof scanned>[0]) =>
  store(
    Array.from({ length: count }, () => ({
      ...scanned({ account: account.id, occurred_at: new Date('2026-03-14T12:00:00Z'), ...fields }),
      position: ++position,
      is_unique: true,
    })),
  );

beforeAll(async () => {
  account = await service.account();
  menu = await created(account.live, {
    name: 'Menu <b>',
    destination_url: 'https://secret.example/x',
    tags: ['Summer'],
  });
  terrace = await created(account.live, { name: 'Terrace' });
  await storeScans(48, { code: menu.id, country: 'DE' });
  await storeScans(20, { code: menu.id, country: 'FR', device: 'android', browser: 'chrome' });
  await storeScans(2, { code: menu.id, country: 'AT', occurred_at: new Date('2026-03-10T12:00:00Z') });
  await storeScans(7, { code: menu.id, country: 'DE', is_bot: true });
  await storeScans(30, { code: terrace.id, country: 'JP' });
});

const share = async (fields: object = {}): Promise<Json> => {
  const { status, body } = await account.live.post('/v1/shares', { name: 'Summer', qr_ids: [menu.id], ...fields });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};

/** A visitor without a session; analytics may be busy for a moment. */
const visit = (url: string, { instance = 0, ...init }: RequestInit & { instance?: number } = {}) =>
  eventually(async () => {
    const { pathname, search } = new URL(url);
    const response = await fetch(`${service.urls[instance]}${pathname}${search}`, { redirect: 'manual', ...init });
    if (response.status === 503) throw new Error('busy');
    return { status: response.status, headers: response.headers, text: await response.text() };
  });
const figuresOf = async (url: string, query = ''): Promise<Json> =>
  JSON.parse((await visit(`${url}.json${query}`)).text);

describe('a shared page', () => {
  test('shows figures, and nothing that leads further', async () => {
    const { id, url, ...settings } = await share();
    expect(id).toMatch(/^shr_[0-9A-Za-z]{20,40}$/);
    expect(url).toMatch(/^http:\/\/localhost:\d+\/s\/[0-9A-Za-z]{52}$/);
    expect(settings).toMatchObject({ qr_ids: [menu.id], tags: null, has_password: false, bots: 'exclude' });
    const { status, headers, text } = await visit(url);
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('set-cookie')).toBeNull();
    expect(text).toContain('Menu &lt;b&gt;');
    expect(text).toContain('Time zone: UTC');
    expect(text).not.toMatch(/<script|Terrace|secret\.example|Japan/);
    for (const secret of [menu.id, menu.short_code ?? menu.short_url, account.id, id, 'qr_', 'acct_'])
      expect(text, secret).not.toContain(secret);
    expect(await figuresOf(url)).toMatchObject({
      name: 'Summer',
      timezone: 'UTC',
      scans: 70,
      visitors: 70,
      codes: { rows: [{ name: 'Menu <b>', scans: 70 }] },
      // Austria has two visitors, which would be the total less Germany and France.
      countries: { rows: [{ name: 'DE', scans: 48 }], other: 22 },
    });
    const { series } = await figuresOf(url, '?period=7d');
    expect(series.map(({ scans }: Json) => scans)).toEqual([0, null, 0, 0, 0, null, 0]);
    expect((await figuresOf(url, '?period=12m')).series).toHaveLength(12);
  });

  test('follows tags, counts bots if it should, and stays the same for a minute', async () => {
    const { id: code } = await created(account.live, { tags: ['Winter'] });
    await storeScans(20, { code });
    await storeScans(10, { code, is_bot: true });
    const { url } = await share({ qr_ids: undefined, tags: ['WINTER'], bots: 'include' });
    expect((await figuresOf(url)).scans).toBe(30);
    await storeScans(50, { code });
    expect((await figuresOf(url)).scans).toBe(30);
    now = new Date(now.getTime() + 60_000);
    expect((await figuresOf(url)).scans).toBe(80);
  });

  test('is in the language of the guest', async () => {
    const { url } = await share();
    const inLanguage = async (language: string) =>
      (await visit(url, { headers: { 'accept-language': language } })).text;
    expect(await inLanguage('de-AT,en;q=0.5')).toMatch(/lang="de"[\s\S]*Besucher[\s\S]*Deutschland/);
    expect(await inLanguage('ar')).toContain('dir="rtl"');
    expect(await inLanguage('xx')).toContain('Visitors');
    for (const language of ['fr', 'es', 'it', 'pt', 'nl', 'pl', 'tr', 'ja', 'zh'])
      expect(await inLanguage(language), language).toContain(`<html lang="${language}"`);
  });

  test('can be shown in frames of given websites only', async () => {
    const { url, id } = await share({ frame_origins: ['https://Client.example/'] });
    expect((await visit(url)).headers.get('content-security-policy')).toContain(
      'frame-ancestors https://client.example',
    );
    const { body } = await account.live.patch(`/v1/shares/${id}`, { frame_origins: ["https://a; script-src 'x'"] });
    expect(body.error.details).toMatchObject([{ field: 'frame_origins[0]' }]);
  });

  test('ends at once on every instance, by its owner, its time or the operator', async () => {
    const { id, url } = await share({ expires_at: '2026-04-01T00:00:00Z' });
    const statuses = async () => [await visit(url), await visit(url, { instance: 1 })].map(({ status }) => status);
    expect(await statuses()).toEqual([200, 200]);
    await suspend(service.database.sql, account.id, 'Spam', now);
    expect(await statuses()).toEqual([410, 410]);
    await resume(service.database.sql, account.id, now);
    expect(await statuses()).toEqual([200, 200]);
    const before = now;
    now = new Date('2026-04-01T00:00:00Z');
    expect(await statuses()).toEqual([404, 404]);
    now = before;
    expect((await account.live.delete(`/v1/shares/${id}`)).body).toEqual({ deleted: true, id });
    expect(await statuses()).toEqual([404, 404]);
    expect(JSON.parse((await visit(`${url}.json`)).text).error.code).toBe('not_found');
    expect((await account.live.get(`/v1/shares/${id}`)).status).toBe(404);
    expect((await visit(`${service.urls[0]}/s/nonsense`)).text).toContain('This page does not exist');
  });
});

describe('a password', () => {
  const open = (url: string, password: string) =>
    visit(url, { method: 'POST', body: new URLSearchParams({ password }) });
  /** Moves the windows of tries, so that they end neither too early on a slow machine nor after a minute. */
  const moveTries = (by: string) => service.database.sql`
    UPDATE rate_windows SET started_at = started_at + ${by}::interval WHERE subject NOT LIKE 'acct%'`;
  const cookieOf = (headers: Headers) =>
    headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ');

  test('opens the page for a browser, until it is changed', async () => {
    const { id, url } = await share({ name: 'Private', password: 'sunflower' });
    const form = await visit(url);
    expect(form.status).toBe(401);
    expect(form.text).toContain('type="password"');
    expect(form.text).not.toContain('Private');
    expect((await visit(`${url}.json`)).status).toBe(401);
    const wrong = await open(url, 'sunflowers');
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([403, []]);
    const right = await open(url, 'sunflower');
    expect([right.status, right.headers.get('location')]).toEqual([303, new URL(url).pathname]);
    expect(right.headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]*/, ''))).toEqual([
      `scanlog_share; Path=${new URL(url).pathname}; Max-Age=86400; HttpOnly; SameSite=Lax`,
      `scanlog_share; Path=${new URL(url).pathname}.json; Max-Age=86400; HttpOnly; SameSite=Lax`,
    ]);
    const cookie = cookieOf(right.headers);
    expect((await visit(url, { headers: { cookie } })).status).toBe(200);
    expect((await visit(url, { headers: { cookie: cookie.replaceAll(/.(?=;|$)/g, '') } })).status).toBe(401);
    const other = await share({ password: 'sunflower' });
    expect((await visit(other.url, { headers: { cookie } })).status, 'of another page').toBe(401);

    await account.live.patch(`/v1/shares/${id}`, { password: 'marigold' });
    expect((await visit(url, { headers: { cookie } })).status).toBe(401);
    const { body } = await account.live.patch(`/v1/shares/${id}`, { password: null });
    expect(body.has_password).toBe(false);
    expect((await visit(url)).status).toBe(200);
  });

  test('can be tried five times a minute for a page', async () => {
    const { url } = await share({ password: 'sunflower' });
    const other = await share({ password: 'sunflower' });
    await open(url, 'wrong 1');
    await moveTries('1 hour');
    for (let i = 2; i <= 5; i++) expect((await open(url, `wrong ${i}`)).status).toBe(403);
    const refused = await open(url, 'sunflower');
    expect(refused.status).toBe(429);
    expect(refused.text).toContain('Too many tries');
    expect((await open(other.url, 'sunflower')).status, 'another page').toBe(303);
    await moveTries('-2 hours');
    expect((await open(url, 'sunflower')).status).toBe(303);
  });

  test('is neither in the log nor in a response', async () => {
    const { id } = await share({ password: 'sunflower' });
    const events = JSON.stringify(await service.database.sql`SELECT * FROM events WHERE stream = ${account.id}`);
    const [secrets] = await service.database.sql`SELECT * FROM share_secrets WHERE share = ${id}`;
    expect(secrets?.['password_hash']).toMatch(/^\$argon2id\$/);
    for (const secret of ['sunflower', '$argon2', secrets?.['token'], secrets?.['token_hash']])
      expect(events).not.toContain(secret);
    const { text } = await account.live.get(`/v1/shares/${id}`);
    expect(text).not.toMatch(/sunflower|argon2/);
  });
});

describe('the operations', () => {
  test('list, change and refuse', async () => {
    const { live, test: inTestMode } = await service.account();
    const { id: code } = await created(live);
    const post = (fields: object) => live.post('/v1/shares', { name: 'Page', ...fields });
    const { body: first } = await post({ qr_ids: [code] });
    now = new Date(now.getTime() + 1);
    const { body: second } = await post({ tags: ['Bar'] });
    expect((await live.get('/v1/shares')).body.data.map(({ id }: Json) => id)).toEqual([second.id, first.id]);
    expect((await inTestMode.get('/v1/shares')).body.data).toEqual([]);
    expect((await inTestMode.get(`/v1/shares/${first.id}`)).status).toBe(404);
    const { body: changed } = await live.patch(`/v1/shares/${first.id}`, {
      name: ' New ',
      expires_at: '2027-01-01T00:00:00Z',
    });
    expect(changed).toEqual({ ...first, name: 'New', expires_at: '2027-01-01T00:00:00.000Z' });

    const fields = async (body: object) => (await post(body)).body.error.details.map(({ field }: Json) => field);
    expect(await fields({})).toEqual(['qr_ids']);
    expect(await fields({ qr_ids: [code], tags: ['bar'] })).toEqual(['qr_ids']);
    expect(await fields({ qr_ids: [menu.id] })).toEqual(['qr_ids']);
    expect(await fields({ tags: ['x'], password: 'short', expires_at: '2020-01-01T00:00:00Z', name: '' })).toEqual([
      'name',
      'password',
      'expires_at',
    ]);
    expect((await live.patch(`/v1/shares/${first.id}`, { url: 'x' })).body.error.message).toContain('fixed');
  });

  test('a change of the codes is seen at once, and a code that is deleted leaves the page', async () => {
    const { id, url } = await share();
    expect(await figuresOf(url)).toMatchObject({ scans: 70 });
    const { body } = await account.live.patch(`/v1/shares/${id}`, { qr_ids: [terrace.id] });
    expect(body).toMatchObject({ qr_ids: [terrace.id], tags: null });
    expect(await figuresOf(url)).toMatchObject({ scans: 30 });
    const { body: byTag } = await account.live.patch(`/v1/shares/${id}`, { tags: ['Summer'] });
    expect(byTag).toMatchObject({ qr_ids: null, tags: ['summer'] });
    expect(await figuresOf(url)).toMatchObject({ scans: 70 });
    const { data } = (await account.live.get('/v1/account/audit')).body;
    expect(data.find(({ type }: Json) => type === 'share.changed')?.data).toMatchObject({
      from: { qr_ids: [terrace.id], tags: null },
      to: { qr_ids: null, tags: ['summer'] },
    });

    const gone = await created(account.live, { name: 'Gone' });
    const { body: left } = await account.live.patch(`/v1/shares/${id}`, { qr_ids: [menu.id, gone.id] });
    await account.live.delete(`/v1/qrcodes/${gone.id}`);
    const change = { name: 'Still', qr_ids: left.qr_ids };
    expect((await account.live.patch(`/v1/shares/${id}`, change)).status, 'sends back what it has').toBe(200);
    const refused = await account.live.post('/v1/shares', { name: 'New', qr_ids: [gone.id] });
    expect(refused.body.error.details).toMatchObject([{ field: 'qr_ids' }]);
  });

  test('are in the audit log and in a rebuild of the state, and have a limit', async () => {
    const owner = await service.account('business');
    const post = () => owner.live.post('/v1/shares', { name: 'Page', tags: ['x'] });
    const { body } = await post();
    await owner.live.patch(`/v1/shares/${body.id}`, { bots: 'include', tags: ['y'] });
    const { body: ended } = await post();
    await owner.live.delete(`/v1/shares/${ended.id}`);
    const { data } = (await owner.live.get('/v1/account/audit')).body;
    expect(data.map(({ type }: Json) => type).filter((type: string) => type.startsWith('share.'))).toEqual([
      'share.ended',
      'share.created',
      'share.changed',
      'share.created',
    ]);
    expect((await replayState(service.database.sql)).corrected).toBe(0);
    await service.database.sql`
      INSERT INTO shares SELECT 'shr_' || n, ${owner.id}, 'live', 'Page', NULL, ARRAY['x'], false, NULL, 'exclude', '{}', now()
      FROM generate_series(1, ${maxShares - 1}) AS n`;
    expect((await post()).body.error.code).toBe('quota_exceeded');
  });
});
