import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { detailedClip, layers, repeatedPath, twoImages } from '../../bench/hostile-images.ts';
import { svgLimits } from '../../src/logos/svg-rules.ts';
import { created, newCode } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { peakAbove } from '../support/peak-memory.ts';
import { endWindows } from '../support/rate-windows.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { type Behaviour, useReceiver } from '../webhooks/receiver.ts';
import { mayCallTests, newPath, scanCode, setHook } from '../webhooks/webhook-support.ts';

/** Attacks by one account. Limits of streams are in test/feed/limit.test.ts, limits of reverts in test/log/. */
const { log, warnings } = captureLog();
const service = useService({ config: mayCallTests, log });
const receiver = useReceiver();
/** Above idle, for the process that redirects and for each renderer. */
const maxMegabytes = 250;

let attacker: TestAccount;
let other: TestAccount;
let code: { id: string; short_code: string };
/** Where the webhook of the other account is received. */
let path: string;
const url = () => service.urls[0] as string;

beforeAll(async () => {
  [attacker, other] = [await service.account(), await service.account()];
  path = newPath();
  await setHook(other.live, receiver.url(path));
  code = await created(other.live);
});

beforeEach(() => endWindows(service.database.sql));

let size = 100;
/** Redirects, images, sheets, reads, exports and webhooks of the other account. */
async function expectOtherGoesOn(): Promise<void> {
  const before = receiver.received(path).length;
  await scanCode(url(), code);
  size++;
  const client = service.client(0);
  const responses = await Promise.all([
    client.get(`/images/${code.id}/public?size=${size}`),
    other.live.get(`/v1/qrcodes/${code.id}/download?size=${size + 1_000}`),
    other.live.get(`/v1/qrcodes/${code.id}`),
    other.live.get('/v1/analytics/export'),
    other.live.post('/v1/sheets', { qr_ids: [code.id], layout: 'a4-3x8' }),
  ]);
  const refused = responses.filter(({ status }) => status !== 200).map(({ text }) => text);
  expect(refused, `the service logged ${warnings()}`).toEqual([]);
  await eventually(() => expect(receiver.received(path).length).toBeGreaterThan(before));
}

/** The attack and the other account at the same time, both within the memory. */
async function expectBounded(attack: () => Promise<void>): Promise<void> {
  await expectOtherGoesOn();
  const { service: ofService, renderer } = await peakAbove(async () => {
    await Promise.all([attack(), expectOtherGoesOn()]);
    await expectOtherGoesOn();
  });
  expect(ofService).toBeLessThan(maxMegabytes);
  expect(renderer).toBeLessThan(maxMegabytes);
}

const upload = (body: Buffer, type = 'image/svg+xml') =>
  attacker.live.send('/v1/logos', { method: 'POST', body: Buffer.from(body), headers: { 'content-type': type } });

describe('images', () => {
  const hostile: [string, () => Buffer, string, RegExp][] = [
    ['a WebP of two images, 144 million pixels', twoImages, 'image/webp', /more than one image/],
    ['an SVG of 600 uses of one path', repeatedPath, 'image/svg+xml', /more than 1048576 characters/],
    ['an SVG of 800 paths with one detailed clip', detailedClip, 'image/svg+xml', /too detailed/],
    ['an SVG of 1,600 translucent layers', () => layers(1_600), 'image/svg+xml', /more than 250 times over/],
  ];
  test.each(hostile)('%s is refused, four at once', async (_, make, type, reason) => {
    await expectBounded(async () => {
      const responses = await Promise.all(Array.from({ length: 4 }, () => upload(make(), type)));
      for (const { status, text } of responses) {
        expect(status).toBe(400);
        expect(text).toMatch(reason);
      }
    });
    const [row] = await service.database.sql<[{ count: number }]>`SELECT count(*) FROM logos`;
    expect(row.count).toBe(0);
  });

  test('of a logo as expensive as is accepted, requested by many and abandoned', async () => {
    const { body: logo } = await upload(layers(Math.floor(svgLimits.maxLayers / 3)));
    const heavy = await created(attacker.live, { style: { logo: { id: logo.id } } });
    await expectBounded(async () => {
      const leaving = new AbortController();
      const requests = Array.from({ length: 60 }, (_, i) => {
        const image = `${url()}/images/${heavy.id}/public?size=${1_900 + i}`;
        return fetch(image, { headers: { 'x-forwarded-for': `203.0.113.${i}` }, signal: leaving.signal });
      });
      // The first image is being drawn, and the others wait, when the other account has its own.
      await expectOtherGoesOn();
      leaving.abort();
      const left = await Promise.allSettled(requests);
      expect(left.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    });
    await attacker.live.delete(`/v1/qrcodes/${heavy.id}`);
    await attacker.live.delete(`/v1/logos/${logo.id}`);
  });

  test('on sheets of 1,000 labels, abandoned', async () => {
    const tables = Array.from({ length: 100 }, (_, i) => newCode({ name: `Table ${i}` }));
    const codes = await attacker.test.post('/v1/qrcodes/bulk', { qrcodes: tables });
    const ids: string[] = codes.body.data.map(({ id }: { id: string }) => id);
    const body = JSON.stringify({ qr_ids: Array.from({ length: 1_000 }, (_, i) => ids[i % 100]), layout: 'a4-3x8' });
    await expectBounded(async () => {
      const leaving = new AbortController();
      const headers = { authorization: `Bearer ${attacker.keys.test}`, 'content-type': 'application/json' };
      const begun = await Promise.all(
        Array.from({ length: 3 }, () =>
          fetch(`${url()}/v1/sheets`, { method: 'POST', headers, body, signal: leaving.signal }),
        ),
      );
      expect(begun.map(({ status }) => status)).toEqual([200, 200, 200]);
      leaving.abort();
    });
  });
});

test('an Accept-Language of 999 characters, another one with each of 400 scans', async () => {
  const rules = [{ when: { languages: ['de'] }, destination_url: 'https://example.com/de' }];
  const { short_code } = await created(attacker.live, { rules });
  await expectBounded(async () => {
    for (let i = 0; i < 400; i += 20)
      await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          const language = `${i + n}-${'a-'.repeat(500)}`.slice(0, 999);
          const headers = { 'accept-language': language, 'user-agent': language };
          const response = await fetch(`${url()}/${short_code}`, { headers, redirect: 'manual' });
          expect(response.status).toBe(302);
        }),
      );
  });
});

test('a receiver whose response has a length, and chunks that never end', async () => {
  const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
  let isClosed = false;
  const endless: Behaviour = (socket) => {
    socket.on('error', () => {});
    socket.on('close', () => {
      isClosed = true;
    });
    const write = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', write);
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n');
    write();
  };
  const endlessPath = newPath();
  receiver.behave(endlessPath, endless);
  await setHook(attacker.live, receiver.url(endlessPath));
  await expectBounded(async () => {
    const responses = await Promise.all(
      Array.from({ length: 4 }, () => attacker.live.post('/v1/account/webhook/test', {})),
    );
    for (const { status, body } of responses) {
      expect([status, body.status_code]).toEqual([200, 200]);
      expect(body.response.length).toBeLessThanOrEqual(1_024);
    }
    await eventually(() => expect(isClosed).toBe(true));
  });
});

test('exports that are abandoned', async () => {
  const mine = await created(attacker.live);
  await scanCode(url(), mine, 50);
  await expectBounded(async () => {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${attacker.keys.live}` };
    const exports = Array.from({ length: 30 }, () =>
      fetch(`${url()}/v1/analytics/export?format=json`, { headers, signal: leaving.signal }),
    );
    await Promise.any(exports);
    leaving.abort();
    await Promise.allSettled(exports);
  });
});
