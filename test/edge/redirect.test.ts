import { beforeAll, describe, expect, test } from 'vitest';
import { rename } from '../../src/accounts/accounts.ts';
import { takeDown } from '../../src/codes/takedown.ts';
import { created, newCode, type ReceivedResponse } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService();
let account: TestAccount;
beforeAll(async () => {
  account = await service.account();
});

interface Created {
  id: string;
  short_code: string;
}

const given = (fields: Record<string, unknown> = {}, api = account.live): Promise<Created> => created(api, fields);

const open = (path: string, init: RequestInit = {}): Promise<ReceivedResponse> => service.client(0).send(path, init);

const scansOf = async ({ id }: Created) => {
  await service.allStored();
  const [row] = await service.database.sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE code = ${id}`;
  return row.count;
};

const headersOf = ({ headers }: ReceivedResponse) =>
  Object.fromEntries([...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id'));

const redirected = {
  location: 'https://example.com/menu',
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex',
  'content-length': '0',
};

describe('an active code', () => {
  test('returns 302 with an empty body and exactly the specified headers', async () => {
    const code = await given();
    const response = await open(`/${code.short_code}`);
    expect(response.status).toBe(302);
    expect(response.text).toBe('');
    expect(headersOf(response)).toEqual(redirected);
    expect(await scansOf(code), 'stored before the response').toBe(1);
  });

  test('counts every GET as one scan in total_scans', async () => {
    const code = await given();
    for (let i = 0; i < 3; i++) expect((await open(`/${code.short_code}`)).status).toBe(302);
    expect(await scansOf(code)).toBe(3);
    await eventually(async () => {
      const { body } = await account.live.get(`/v1/qrcodes/${code.id}`);
      expect([body.total_scans, body.unique_scans]).toEqual([3, 1]);
    });
  });

  test('returns the same headers for HEAD and records nothing', async () => {
    const code = await given();
    const response = await open(`/${code.short_code}`, { method: 'HEAD' });
    expect(response.status).toBe(302);
    const { 'content-length': _, ...rest } = headersOf(response);
    const { 'content-length': __, ...expected } = redirected;
    expect(rest).toEqual(expected);
    await open(`/${code.short_code}`);
    expect(await scansOf(code), 'only the later GET').toBe(1);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('refuses %s and records nothing', async (method) => {
    const code = await given();
    const response = await open(`/${code.short_code}`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
    expect(response.headers.get('location')).toBeNull();
    expect(await scansOf(code)).toBe(0);
  });

  test('of test mode redirects too, with scans visible only to test keys', async () => {
    const code = await given({}, account.test);
    expect((await open(`/${code.short_code}`)).status).toBe(302);
    await service.allStored();
    const [scan] = await service.database.sql`SELECT mode FROM scans WHERE code = ${code.id}`;
    expect(scan?.['mode']).toBe('test');
    await eventually(async () => expect((await account.test.get(`/v1/qrcodes/${code.id}`)).body.total_scans).toBe(1));
    expect((await account.live.get(`/v1/qrcodes/${code.id}`)).status).toBe(404);
  });

  test.each([
    ['https://example.com/%C3%A4?q="a"|b', 'https://example.com/%C3%A4?q="a"|b'],
    ['https://münchen.de/straße', 'https://xn--mnchen-3ya.de/stra%C3%9Fe'],
    ['http://example.com/🍜#日本', 'http://example.com/%F0%9F%8D%9C#%E6%97%A5%E6%9C%AC'],
  ])('redirects to %s', async (destination_url, location) => {
    const code = await given({ destination_url });
    expect((await open(`/${code.short_code}`)).headers.get('location')).toBe(location);
    await account.live.patch(`/v1/qrcodes/${code.id}`, { destination_url: 'https://example.com/other' });
    await account.live.patch(`/v1/qrcodes/${code.id}`, { destination_url });
    expect((await open(`/${code.short_code}`)).headers.get('location'), 'after a change').toBe(location);
  });

  test.each(['https://example.com/\r\nSet-Cookie: a=b', 'https://example.com/\nx', 'https://example.com/\u0085'])(
    'cannot have the destination %j: no header injection',
    async (destination_url) => {
      expect((await account.live.post('/v1/qrcodes', newCode({ destination_url }))).status).toBe(400);
      const { id } = await given();
      expect((await account.live.patch(`/v1/qrcodes/${id}`, { destination_url })).status).toBe(400);
    },
  );
});

describe('a code that is not active', () => {
  const states: [string, number, RegExp, string, () => Promise<Created>][] = [
    ['paused', 404, /paused by its owner/, 'not_found', async () => changed({ active: false })],
    ['draft', 404, /not published/, 'not_found', () => given({ status: 'draft' })],
    ['deleted', 410, /deleted by its owner/, 'gone', async () => removed(await given())],
    ['unknown', 404, /does not exist/, 'not_found', async () => ({ id: '', short_code: `none-${Date.now()}` })],
  ];
  const changed = async (change: Record<string, unknown>): Promise<Created> => {
    const code = await given();
    expect((await account.live.patch(`/v1/qrcodes/${code.id}`, change)).status).toBe(200);
    return code;
  };
  const removed = async (code: Created): Promise<Created> => {
    await account.live.delete(`/v1/qrcodes/${code.id}`);
    return code;
  };

  test.each(states)('%s: returns a page with status %i and records nothing', async (_, status, text, __, make) => {
    const code = await make();
    const response = await open(`/${code.short_code}`, {
      headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    });
    expect(response.status).toBe(status);
    expect(response.text).toMatch(text);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(response.headers.get('x-robots-tag')).toBe('noindex');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('location')).toBeNull();
    expect(response.text, 'accessible: a language, a title, one heading, a main part, dark mode').toMatch(
      /<html lang="en">[\s\S]*color-scheme[\s\S]*<title>[\s\S]+<\/title>[\s\S]*prefers-color-scheme: dark[\s\S]*<main>[\s\S]*<h1>/,
    );
    expect(Buffer.byteLength(response.text)).toBeLessThan(4_096);
    expect(await scansOf(code)).toBe(0);
  });

  test.each([
    ['de-AT,de;q=0.9,en;q=0.8', '<html lang="de">', 'Dieser Code ist pausiert'],
    ['ar', '<html lang="ar" dir="rtl">', 'هذا الرمز متوقف مؤقتًا'],
    ['zh-Hant-TW, en', '<html lang="zh">', '此二维码已暂停'],
    ['sv, tlh, constructor', '<html lang="en">', 'This code is paused'],
  ])('the page is in the language of a guest with %s', async (language, html, title) => {
    const { short_code } = await changed({ active: false });
    const { text } = await open(`/${short_code}`, { headers: { 'accept-language': language } });
    expect(text).toContain(html);
    expect(text).toContain(`<h1>${title}</h1>`);
  });

  test('shows the name and logo of an account that wants it, but not on what the operator has disabled', async () => {
    const own = await service.account();
    const { sql } = service.database;
    await rename(sql, own.id, 'قهوة <Luna>', new Date());
    const { body: logo } = await own.live.send('/v1/logos', {
      method: 'POST',
      headers: { 'content-type': 'image/svg+xml' },
      body: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><path d="M0 0h10v10H0z" fill="#123456"/></svg>',
    });
    const { body: set } = await own.live.patch('/v1/account', { guest_page: { logo: logo.id } });
    expect(set.guest_page).toEqual({ logo: logo.id });
    expect((await own.live.delete(`/v1/logos/${logo.id}`)).body.error.code).toBe('logo_in_use');
    const [paused, expired, disabled] = [
      await created(own.live, { status: 'draft' }),
      await created(own.live, { expires_at: '2020-01-01T00:00:00Z' }),
      await created(own.live),
    ];
    await takeDown(sql, disabled.id, 'phishing', new Date());
    for (const { short_code } of [paused, expired]) {
      const { text, headers } = await open(`/${short_code}`);
      expect(text).toContain('<bdi dir="auto">قهوة &lt;Luna&gt;</bdi>');
      expect(text).toMatch(/<img src="data:image\/svg\+xml;base64,[A-Za-z0-9+/=]+" alt="">/);
      expect(headers.get('content-security-policy')).toContain('img-src data:');
    }
    await eventually(async () => {
      const { status, text } = await open(`/${disabled.short_code}`);
      expect(status).toBe(410);
      expect(text).not.toContain('Luna');
    });
    await own.live.patch('/v1/account', { guest_page: null });
    await eventually(async () => expect((await open(`/${paused.short_code}`)).text).not.toContain('Luna'));
    expect((await own.live.delete(`/v1/logos/${logo.id}`)).status).toBe(200);
  });

  test('the time at which a code starts is in the language of the guest', async () => {
    const { short_code } = await given({ starts_at: '2036-07-01T09:00:00Z' });
    const { text } = await open(`/${short_code}`, { headers: { 'accept-language': 'fr' } });
    expect(text).toMatch(/Il commence le 1er juillet 2036|Il commence le 1 juillet 2036/);
  });

  test.each(states)('%s: returns JSON if requested', async (_, status, text, errorCode, make) => {
    const { short_code } = await make();
    const response = await open(`/${short_code}`, { headers: { accept: 'application/json' } });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.body).toEqual({ error: { code: errorCode, message: expect.stringMatching(text) } });
  });

  test.each(states)('%s: returns the status without a body for HEAD', async (_, status, __, ___, make) => {
    const response = await open(`/${(await make()).short_code}`, { method: 'HEAD' });
    expect(response.status).toBe(status);
    expect(response.text).toBe('');
  });

  test('redirects after a draft is published and after a paused code is resumed', async () => {
    for (const code of [await given({ status: 'draft' }), await changed({ active: false })]) {
      expect((await open(`/${code.short_code}`)).status).toBe(404);
      await account.live.patch(`/v1/qrcodes/${code.id}`, { active: true });
      expect((await open(`/${code.short_code}`)).status).toBe(302);
    }
  });
});
