import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptedTags } from '../../events/targeting/languages.ts';
import { sessionTokenOf, themeOf } from '../../src/console/cookies.ts';
import { Cursors } from '../../src/feed/cursor.ts';
import { clientAddress, parseTrustedProxies, type TrustedProxies } from '../../src/lib/client-address.ts';
import { sealerKeys } from '../../src/lib/sealed-text.ts';
import { matchesEtag } from '../../src/qr/image.ts';
import { retryAfterMs } from '../../src/webhooks/schedule.ts';
import { createSender } from '../../src/webhooks/send.ts';
import { mutatedText } from '../support/mutate.ts';

const many = { numRuns: 1_000 };

test('a mutated Accept-Language has at most 32 ranges with their truncations', () => {
  const headers = ['de-AT,de;q=0.9,en;q=0.8', 'zh-Hant-TW, *;q=0.1, fr;q=0', `${'a-'.repeat(400)}b`, 'x'.repeat(999)];
  const maxTags = 32 * 18;
  fc.assert(
    fc.property(mutatedText(headers), (header) => {
      const tags = acceptedTags(header);
      expect(tags.length).toBeLessThanOrEqual(maxTags);
      for (const tag of tags) expect(tag).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    }),
    many,
  );
});

test('a mutated cookie names no session but its own', () => {
  const token = 'a'.repeat(43);
  const cookies = [`scanlog_session=${token}; scanlog_theme=dark`, `a=b;;=; __Host-scanlog_session=${token}`, '='];
  fc.assert(
    fc.property(mutatedText(cookies), (cookie) => {
      const headers = { get: () => cookie } as unknown as Headers;
      for (const url of ['http://localhost', 'https://example.com']) {
        const found = sessionTokenOf(headers, url);
        if (found !== undefined) expect(cookie).toContain(`scanlog_session=${found}`);
      }
      expect(themeOf(headers)).toBeOneOf(['light', 'dark', undefined]);
    }),
    many,
  );
});

test('a mutated X-Forwarded-For is an address, or the address of the peer', () => {
  const trusted = parseTrustedProxies('127.0.0.0/8, ::1, 10.0.0.0/8') as TrustedProxies;
  const headers = [
    '198.51.100.1, 10.0.0.2',
    '[2001:db8::1]:443, ::ffff:10.0.0.1',
    'fe80::1%eth0',
    '10.0.0.1,'.repeat(200),
  ];
  const peers = ['127.0.0.1', '::1', '203.0.113.9', ''];
  fc.assert(
    fc.property(mutatedText(headers), fc.constantFrom(...peers), (header, peer) => {
      const address = clientAddress(peer, header, trusted);
      expect(address).toHaveLength(16);
      if (peer === '203.0.113.9') expect(address).toEqual(clientAddress(peer, null, trusted));
    }),
    many,
  );
});

test('a mutated cursor is refused', () => {
  const cursors = new Cursors({
    keys: sealerKeys(Buffer.alloc(32, 7), 'cursor'),
    branch: 1,
    branches: [{ branch: 1, after: 0 }],
  });
  const owner = { account: 'acct_a', mode: 'live' } as const;
  const sealed = [cursors.seal(owner, 5), cursors.seal(owner, 2 ** 47)];
  const bytesOf = (cursor: string) => Buffer.from(cursor, 'base64url').toString('hex');
  fc.assert(
    fc.property(mutatedText(sealed), (cursor) => {
      const position = cursors.open(owner, cursor);
      if (position !== undefined) expect(sealed.map(bytesOf)).toContain(bytesOf(cursor));
    }),
    many,
  );
});

test('a mutated If-None-Match contains an ETag or not', () => {
  const etag = '"abcdefghijklmnopqrstuvwxyz0"';
  fc.assert(
    fc.property(mutatedText([etag, `W/${etag}, "x"`, '*', '"'.repeat(500)]), (header) => {
      if (matchesEtag(header, etag)) expect(header.trim() === '*' || header.includes(etag)).toBe(true);
    }),
    many,
  );
});

test('a mutated Retry-After is a time in ms from now', () => {
  const now = new Date('2026-03-01T00:00:00Z');
  fc.assert(
    fc.property(mutatedText(['120', 'Sun, 01 Mar 2026 00:01:00 GMT', '9'.repeat(40)]), (header) => {
      const ms = retryAfterMs(header, now);
      expect(Number.isFinite(ms) && ms >= 0).toBe(true);
    }),
    many,
  );
});

describe('the response of a receiver', () => {
  const piece = Buffer.alloc(16 * 1024, 'x');
  /** More than the sender may read of any response. */
  const endless = 8 * 1024 * 1024;
  let head = '';
  let written = 0;
  let server: Bun.TCPSocketListener<undefined>;

  beforeAll(() => {
    const write = (socket: Bun.Socket<undefined>) => {
      for (let sent = piece.length; sent === piece.length && written < endless; ) {
        sent = socket.write(piece);
        written += Math.max(0, sent);
      }
      if (written >= endless) socket.end();
    };
    server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          written = 0;
          socket.write(head);
          write(socket);
        },
        drain: write,
      },
    });
  });
  afterAll(() => server.stop(true));

  const policy = { allowHttp: true, allowed: parseTrustedProxies('127.0.0.0/8') as TrustedProxies };

  /** The response to a delivery whose receiver sends these headers and then 8 MiB. */
  async function answerTo(headers: string) {
    head = headers;
    const send = createSender({ policy });
    return send({ url: `http://127.0.0.1:${server.port}/`, body: '{}', headers: {} });
  }

  const heads = [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nRetry-After: 5\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n',
    'HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Encoding: gzip\r\n\r\n',
    'HTTP/1.1 301 Moved\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n',
  ];

  test('is cut after 1 KiB whatever its length says', async () => {
    for (const length of ['-1', '+5', '0x10', '1e1', '', '0 0', '5\r\nContent-Length: 6', '999999999999999999999']) {
      const { answer } = await answerTo(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`);
      expect((answer ?? '').length, `Content-Length: ${length}`).toBeLessThanOrEqual(1_024);
      expect(written, `Content-Length: ${length}`).toBeLessThan(endless);
    }
  });

  test('is an attempt with an outcome, however its headers are mutated', async () => {
    await fc.assert(
      fc.asyncProperty(mutatedText(heads), async (headers) => {
        const { answer, status, outcome, error } = await answerTo(headers);
        expect((answer ?? '').length).toBeLessThanOrEqual(1_024);
        expect(outcome === 'delivered').toBe(status !== null && status >= 200 && status < 300 && error === null);
      }),
      { numRuns: 100 },
    );
  });
});
