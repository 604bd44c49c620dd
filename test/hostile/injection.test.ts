import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { type Api, apiOver, created, type Json, newCode, type ReceivedResponse } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { endWindows } from '../support/rate-windows.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { answer, useReceiver } from '../webhooks/receiver.ts';
import { codeOf, deliveriesOf, mayCallTests, newPath, scanCode, setHook } from '../webhooks/webhook-support.ts';
import { payloads, text } from './anything.ts';
import { head, sendBytes } from './wire.ts';

const captured = captureLog();
const service = useService({ config: mayCallTests, log: captured.log });
const receiver = useReceiver();
const url = () => service.urls[0] as string;
let account: TestAccount;
let live: Api;

beforeAll(async () => {
  account = await service.account();
  /** Resets the rate limit when it is exceeded, because this file sends more requests than fit in a minute. */
  const send: Api['send'] = async (path, init) => {
    const answered = await account.live.send<Json>(path, init);
    if (answered.status !== 429) return answered;
    await endWindows(service.database.sql);
    return account.live.send(path, init);
  };
  live = apiOver(send);
});

/** After all tests: every line of the log is one JSON object, and none contains a payload. */
afterAll(() => {
  const lines = captured.text().trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(payloads.length);
  for (const line of lines) {
    const entry = JSON.parse(line);
    expect(Object.keys(entry).slice(0, 2)).toEqual(['level', 'time']);
    expect(entry.msg, line).toEqual(expect.any(String));
    expect(entry.level, line).not.toBe('error');
    if (entry.request_id !== undefined) expect(entry.request_id).toMatch(/^[\w.-]{1,128}$/);
  }
  for (const value of payloads.filter((one) => isDistinctive(one) && !/^[\w.-]+$/.test(one)))
    expect(captured.text()).not.toContain(JSON.stringify(value).slice(1, -1));
});

const namesOf = ({ headers }: ReceivedResponse) => [...headers.keys()].filter((name) => name !== 'date').sort();
/** Shorter strings may occur anywhere by chance. */
const isDistinctive = (value: string) => value.trim().length > 6;

const open = async (shortCode: string, headers: Record<string, string> = {}): Promise<ReceivedResponse> =>
  service.client(0).get(`/${shortCode}`, headers);

describe('a name', () => {
  test('is stored and returned unchanged, and is never interpreted', async () => {
    const plain = await created(live);
    const headerNames = namesOf(await live.get(`/v1/qrcodes/${plain.id}/download?format=svg`));
    const image =
      /^<svg xmlns="[^"<>]+"[^<>]*>\n<title>QR code for [^<>]+<\/title>(\n<(\/?g|path|rect)( [a-zA-Z-]+="[^"<>&]*")*\/?>)+\n<\/svg>\n$/;

    await fc.assert(
      fc.asyncProperty(text, async (name) => {
        const { status, body: code } = await live.post('/v1/qrcodes', newCode({ name }));
        expect(status).toBeOneOf([201, 400]);
        if (status === 400) {
          expect(code.error.details).toMatchObject([{ field: 'name' }]);
          return;
        }
        expect(code.name).toBe(name.trim());
        expect((await live.get(`/v1/qrcodes/${code.id}`)).body.name).toBe(name.trim());
        expect((await live.get('/v1/qrcodes?limit=1')).body.data[0].name).toBe(name.trim());

        const file = await live.get(`/v1/qrcodes/${code.id}/download?format=svg`);
        expect(namesOf(file)).toEqual(headerNames);
        expect(file.headers.get('content-disposition')).toMatch(
          /^attachment; filename="[^"\\/\p{Cc}]+\.svg"(; filename\*=UTF-8''[\w.~%-]+)?$/u,
        );
        expect(file.text).toMatch(image);
        const { text: history } = await live.get(`/v1/qrcodes/${code.id}/history`);
        expect(JSON.parse(history).data).toHaveLength(1);
      }),
      { numRuns: payloads.length + 10, examples: payloads.map((value) => [value]) },
    );
  });

  test('of a key or an account is stored unchanged', async () => {
    for (const name of payloads) {
      const { status, body } = await live.post('/v1/account/keys', { name });
      expect(status).toBeOneOf([201, 400]);
      if (status === 201) expect(body.name).toBe(name.trim());
    }
    const { live: key } = await createAccount(service.database.sql, {
      name: payloads[0],
      plan: 'pro',
      now: new Date(),
    });
    expect((await service.client(0, key.secret).get('/v1/account')).body.name).toBe(payloads[0]);
  });

  test('of a scanned code is unchanged in analytics', async () => {
    const names = payloads.slice(0, 4);
    const owner = await service.account();
    for (const name of names) {
      const body = await created(owner.live, { name });
      await scanCode(url(), body);
    }
    await eventually(async () => {
      const { body } = await owner.live.get('/v1/analytics/aggregate');
      const top: { name: string }[] = body.top_qrcodes ?? [];
      expect(top.map(({ name }) => name)).toEqual(names);
    });
  });
});

describe('a destination', () => {
  test('is sent unchanged in one Location header, or is refused', async () => {
    const plain = await codeOf(live);
    const headerNames = namesOf(await open(plain.short_code));
    const place = fc.tuple(
      fc.constantFrom(
        'https://example.com/',
        'https://example.com/?q=',
        'https://example.com/#',
        'https://',
        'http://a@',
        '',
      ),
      text,
    );
    const schemes = [
      'javascript:alert(1)',
      'data:text/html,<script>',
      '//evil.example',
      'https:evil.example',
      ' https://a',
      'https://a\\@b',
      'https://ü%0d%0a.example',
    ];
    await fc.assert(
      fc.asyncProperty(
        place.map((parts) => parts.join('')),
        async (destination_url) => {
          const { status, body: code } = await live.post('/v1/qrcodes', newCode({ destination_url }));
          expect(status).toBeOneOf([201, 400]);
          if (status === 400) return;
          expect(code.destination_url).toBe(destination_url);
          const sent = await open(code.short_code);
          expect(sent.status).toBe(302);
          expect(namesOf(sent)).toEqual(headerNames);
          expect(sent.text).toBe('');
          const location = sent.headers.get('location') ?? '';
          expect(location).toMatch(/^https?:\/\/[\x21-\x7e]+$/i);
          expect(new URL(location).href).toBe(new URL(destination_url).href);
        },
      ),
      {
        numRuns: schemes.length + payloads.length + 10,
        examples: [
          ...schemes.map((given): [string] => [given]),
          ...payloads.map((value): [string] => [`https://example.com/${value}`]),
        ],
      },
    );
  });
});

describe('a short code', () => {
  test('with special characters is refused', async () => {
    for (const short_code of [...payloads, 'a/b', 'a.b', 'a%2fb', 'sk_live_', '-ab', 'ａｂｃ', 'abc\n']) {
      const { status, body } = await live.post('/v1/qrcodes', newCode({ short_code }));
      // Names of inherited JavaScript properties, such as constructor, are valid short codes.
      const isWord = /^[a-z]+$/i.test(short_code);
      expect([short_code, status]).toEqual([short_code, isWord && short_code.length <= 50 ? 201 : 400]);
      if (status === 201) expect((await open(short_code)).status).toBe(302);
      else expect(body.error.details).toMatchObject([{ field: 'short_code' }]);
    }
  });
});

describe('headers', () => {
  const printable = payloads.filter((value) => /^[\x20-\x7e]+$/.test(value) && value.length < 300);

  test('of a scan are recorded only as known values, and are never repeated', async () => {
    const code = await codeOf(live);
    const headerNames = namesOf(await open(code.short_code, { 'user-agent': 'x' }));
    for (const value of printable) {
      const sent = await open(code.short_code, {
        'user-agent': value,
        'x-forwarded-for': value,
        referer: value,
        accept: value,
        origin: value,
        'x-request-id': value,
        forwarded: value,
        'x-forwarded-host': value,
        'accept-language': value,
        cookie: value,
      });
      expect(sent.status).toBe(302);
      expect(namesOf(sent)).toEqual(headerNames);
      if (!/^[\w.-]+$/.test(value) && isDistinctive(value))
        expect(JSON.stringify([...sent.headers])).not.toContain(value);
    }
    await service.allStored();
    const rows = await service.database.sql<Record<string, unknown>[]>`SELECT * FROM scans WHERE code = ${code.id}`;
    expect(rows).toHaveLength(printable.length + 1);
    for (const { device, browser, country, region, city } of rows)
      expect([device, browser, country, region, city]).toEqual(['desktop', 'other', 'XX', 'Unknown', 'Unknown']);
    for (const value of printable.filter(isDistinctive)) expect(JSON.stringify(rows)).not.toContain(value);
  });

  test('of an API request have only their documented effect', async () => {
    for (const value of printable) {
      const first = await live.post('/v1/qrcodes', newCode(), { 'idempotency-key': value, 'x-request-id': value });
      const again = await live.post('/v1/qrcodes', newCode(), { 'idempotency-key': value, accept: value });
      // A blank header arrives as a missing or empty one.
      expect(first.status).toBeOneOf(value.trim() === '' ? [201, 400] : [201]);
      if (value.trim() !== '') expect(again.text).toBe(first.text);
      const isId = /^[\w.-]{1,128}$/.test(value);
      expect(first.headers.get('x-request-id') === value).toBe(isId);
    }
  });
});

describe('a webhook', () => {
  test('is called at its own path, whatever its query contains', async () => {
    const path = newPath();
    for (const value of payloads) {
      const { status, body } = await live.put('/v1/account/webhook', { url: `${receiver.url(path)}/?a=${value}` });
      expect(status).toBeOneOf([200, 400]);
      if (status === 400) {
        expect(body.error.details).toMatchObject([{ field: 'url' }]);
        continue;
      }
      const before = receiver.received().length;
      expect((await live.post('/v1/account/webhook/test', {})).body).toMatchObject({
        delivered: true,
        status_code: 200,
      });
      const [request, ...more] = receiver.received().slice(before);
      expect(more).toEqual([]);
      expect(request?.to).toBe(path);
      expect(Object.keys(request?.headers ?? {}).filter((name) => /cookie|injected/i.test(name))).toEqual([]);
      expect(JSON.parse(request?.body ?? '').event).toBe('scan.created');
    }
  });

  test('has its response stored as text', async () => {
    const path = newPath();
    const owner = await service.account();
    await setHook(owner.live, receiver.url(path));
    for (const value of payloads) {
      receiver.behave(path, answer(200, value, { 'retry-after': '1e9', 'x-a': 'b' }));
      const { status, body } = await owner.live.post('/v1/account/webhook/test', {});
      expect([status, body.delivered]).toEqual([200, true]);
    }
    receiver.behave(path, answer(200, payloads.join('\u0000')));
    await scanCode(url(), await codeOf(owner.live));
    await eventually(async () => {
      const [delivery] = await deliveriesOf(owner.live);
      expect(delivery?.status).toBe('delivered');
      expect(delivery.attempts[0].response).toContain('DROP TABLE');
    });
  });
});

describe('pages', () => {
  test('repeat nothing of the request', async () => {
    const marker = 'zz7MARKERzz';
    const targets = [
      '/MARK',
      '/a/MARK',
      '/images/MARK/public',
      '/images/x/public?size=MARK',
      '/swagger/MARK',
      '/swagger?url=MARK',
      '/swagger/plugin?MARK',
      '/?MARK',
      '/console/MARK',
      '/.well-known/MARK',
    ];
    for (const value of ['"><script>', "'><svg/onload=x>", '{{7*7}}', '%3Cscript%3E', '%0d%0aX-Injected:1'])
      for (const target of targets) {
        const path = target.replace('MARK', `${value.replace(/[ "<>{}]/g, encodeURIComponent)}${marker}`);
        const reply = await sendBytes(url(), [
          head(
            `GET ${path} HTTP/1.1`,
            `Host: ${marker}.example`,
            `Referer: https://${marker}/`,
            'Accept: text/html',
            'Connection: close',
          ),
        ]);
        expect(reply.statuses, path).toHaveLength(1);
        expect(reply.statuses[0], path).toBeLessThan(500);
        expect(reply.text.toLowerCase(), path).not.toContain(marker.toLowerCase());
        expect(reply.text, path).not.toMatch(/^x-injected/im);
        if (/^content-type: text\/html/im.test(reply.text))
          expect(reply.text, `${path} has a content security policy`).toMatch(
            /^content-security-policy: default-src/im,
          );
      }
  });
});
