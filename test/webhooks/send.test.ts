import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type IpRanges, parseRanges } from '../../src/lib/ip-range.ts';
import type { Resolve } from '../../src/webhooks/destination.ts';
import { createSender, type SenderOptions } from '../../src/webhooks/send.ts';
import { conditionTimeoutMs } from '../support/limits.ts';
import { manualTimers } from '../support/timers.ts';
import { authority, certificate, privateKey } from './certificate.ts';
import { answer, type hang, reset, useReceiver } from './receiver.ts';
import { newPath } from './webhook-support.ts';

const receiver = useReceiver();
const ranges = (text: string) => parseRanges(text) as IpRanges;
const policy = { allowHttp: true, allowed: ranges('127.0.0.1') };
const send = (url: string, options: Partial<SenderOptions> = {}) =>
  createSender({ policy, timeoutMs: conditionTimeoutMs, ...options })({
    url,
    body: '{}',
    headers: { 'webhook-id': 'whd_1' },
  });

/** A new path with this behaviour. */
const behaving = (behaviour: Parameters<typeof receiver.behave>[1]) => {
  const path = newPath();
  receiver.behave(path, behaviour);
  return receiver.url(path);
};

describe('a response', () => {
  test.each([200, 201, 204, 299])('%i is a success', async (status) => {
    const url = behaving(answer(status, status === 204 ? '' : 'thanks'));
    expect(await send(url)).toMatchObject({ outcome: 'delivered', status, error: null });
  });

  test.each([400, 404, 410, 429, 500, 503])('%i is a failure, with its body and Retry-After', async (status) => {
    const url = behaving(answer(status, 'no', { 'retry-after': 7 }));
    const attempt = await send(url);
    expect(attempt).toMatchObject({ outcome: 'refused', status, answer: 'no', retryAfter: '7' });
    expect(attempt.error).toContain(String(status));
  });

  test.each([301, 302, 303, 307, 308])('%i is a failure: redirects are not followed', async (status) => {
    const elsewhere = newPath();
    const url = behaving(answer(status, '', { location: receiver.url(elsewhere) }));
    expect(await send(url)).toMatchObject({ outcome: 'refused', status, error: expect.stringContaining('redirect') });
    expect(receiver.received(elsewhere)).toEqual([]);
  });

  /** A body of the given pieces that ends when the client closes the connection. */
  const endless = (head: string, piece: string) => {
    let written = 0;
    const url = behaving((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
      const more = () => {
        while (written < 10_000_000 && !socket.destroyed && socket.write(piece)) written += piece.length;
      };
      socket.on('drain', more);
      more();
    });
    return { url, written: () => written };
  };
  const text = 'x'.repeat(50_000);
  const chunk = `${text.length.toString(16)}\r\n${text}\r\n`;

  test.each([
    ['a length', 'content-length: 10000000', text],
    ['chunks', 'transfer-encoding: chunked', chunk],
    ['chunks and a short length', 'content-length: 5\r\ntransfer-encoding: chunked', chunk],
  ])('of 10 MB with %s is not read completely, and its first KiB is kept', async (_, head, piece) => {
    const { url, written } = endless(head, piece);
    const attempt = await send(url);
    expect(attempt).toMatchObject({ outcome: 'delivered', status: 200, answer: 'x'.repeat(1024) });
    expect(written(), 'the rest is not read').toBeLessThan(10_000_000);
  });

  test.each([
    ['broken UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\uFFFDb'],
    ['NUL, which Postgres cannot store', Buffer.from('a\0b'), 'a\uFFFDb'],
    ['a character cut in half by the limit', Buffer.from(`${'a'.repeat(1023)}é and more`), 'a'.repeat(1023)],
    ['a content encoding, which is not decoded', Buffer.from('zip'), 'zip'],
  ])('with %s is kept as text', async (_, bytes, kept) => {
    const url = behaving((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    });
    expect(await send(url)).toMatchObject({ outcome: 'delivered', answer: kept });
  });
});

describe('without a complete response', () => {
  /** Sends with a timeout of 400 ms, which pass only with `timers`, to a receiver that begins to answer with `beginning`. */
  async function unfinished(beginning: string) {
    const timers = manualTimers();
    const answering = Promise.withResolvers<Parameters<typeof hang>[0]>();
    const url = behaving((socket) => {
      socket.write(beginning);
      answering.resolve(socket);
    });
    const attempt = send(url, { timeoutMs: 400, timers });
    return { timers, attempt, socket: await answering.promise };
  }

  test('a receiver that does not answer ends in a timeout', async () => {
    const { timers, attempt } = await unfinished('');
    timers.advance(400);
    expect(await attempt).toMatchObject({
      outcome: 'timeout',
      status: null,
      ms: 400,
      error: 'No response within 0.4 s.',
    });
  });

  test('headers that never end do not extend the timeout', async () => {
    const { timers, attempt, socket } = await unfinished('HTTP/1.1 200 OK\r\n');
    for (let passed = 0; passed < 400; passed += 20) {
      socket.write('x-more: yes\r\n');
      timers.advance(20);
    }
    expect(await attempt).toMatchObject({ outcome: 'timeout', status: null });
  });

  test('a body that never ends is aborted, and its beginning is kept', async () => {
    const headers = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
    const { timers, attempt, socket } = await unfinished(`${headers}1\r\na\r\n`);
    // A request that begins and ends later: by then, the first chunk has been read.
    await send(receiver.url(newPath()));
    for (let passed = 0; passed < 400; passed += 20) {
      socket.write('1\r\na\r\n');
      timers.advance(20);
    }
    const { outcome, status, answer: kept, error } = await attempt;
    expect([outcome, status]).toEqual(['timeout', 200]);
    expect(kept).toMatch(/^a+$/);
    expect(error).toContain('did not end within');
  });

  test.each([
    ['a reset', reset, 'closed before a response'],
    ['a close without data', (socket: Parameters<typeof hang>[0]) => void socket.end(), 'closed before a response'],
    ['another protocol', (socket: Parameters<typeof hang>[0]) => void socket.end('220 smtp\r\n\r\n'), ''],
  ])('%s is reported as a sentence', async (_, behaviour, words) => {
    const attempt = await send(behaving(behaviour));
    expect(attempt).toMatchObject({ outcome: 'unreachable', status: null });
    expect(attempt.error).toContain(words);
  });

  test('a refused connection is reported as a sentence', async () => {
    const server = createTcpServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({
      outcome: 'unreachable',
      error: 'The connection was refused: nothing listens there.',
    });
  });

  test('an unknown host name is reported as a sentence', async () => {
    const attempt = await send('http://nowhere.test/', { resolve: async () => [] });
    expect(attempt).toMatchObject({ outcome: 'unreachable', error: 'The name nowhere.test could not be resolved.' });
  });
});

describe('the connection', () => {
  test('uses the vetted address and the name’s Host, even if DNS changes', async () => {
    const path = newPath();
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['169.254.169.254']];
    const lookups: string[] = [];
    const resolve: Resolve = async (name) => {
      lookups.push(name);
      return answers.shift() ?? [];
    };
    const url = `http://rebinding.test:${receiver.port}/${path}`;
    expect(await send(url, { resolve })).toMatchObject({ outcome: 'delivered' });
    expect(lookups, 'it is resolved once').toEqual(['rebinding.test']);
    expect(receiver.received(path)[0]?.headers['host']).toBe(`rebinding.test:${receiver.port}`);
  });

  test('is tried at 8 addresses of a name at most, which may have thousands', async () => {
    const path = newPath();
    receiver.behave(path, answer(200));
    const outcomeAfter = async (refusing: number) => {
      const resolve: Resolve = async () => [...Array(refusing).fill('127.0.0.9'), '127.0.0.1'];
      const allowed = { allowHttp: true, allowed: ranges('127.0.0.0/8') };
      return (await send(`http://many.test:${receiver.port}/${path}`, { resolve, policy: allowed })).outcome;
    };
    expect([await outcomeAfter(7), await outcomeAfter(8)]).toEqual(['delivered', 'unreachable']);
  });

  test('is refused if the name resolves only to non-public addresses', async () => {
    const path = newPath();
    const resolve: Resolve = async () => ['169.254.169.254', '10.0.0.1', '::ffff:127.0.0.9', '64:ff9b::7f00:1'];
    const attempt = await send(`http://rebinding.test:${receiver.port}/${path}`, { resolve });
    expect(attempt).toMatchObject({ outcome: 'forbidden', status: null, answer: null });
    expect(attempt.error, 'the error does not reveal addresses').not.toMatch(/169\.254|10\.0|64:ff9b/);
  });

  test('skips non-public addresses of a name', async () => {
    const path = newPath();
    const resolve: Resolve = async () => ['10.0.0.1', '127.0.0.1'];
    expect(await send(`http://mixed.test:${receiver.port}/${path}`, { resolve })).toMatchObject({
      outcome: 'delivered',
    });
  });
});

describe('over TLS', () => {
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) =>
    response.end(`host ${request.headers.host}`),
  );
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => void server.close());
  const resolve: Resolve = async () => ['127.0.0.1'];

  test('the certificate must match the name, not the address', async () => {
    const send = createSender({ policy, ca: authority, resolve, timeoutMs: conditionTimeoutMs });
    const to = (name: string) => send({ url: `https://${name}:${port}/`, body: '{}', headers: {} });
    expect(await to('hook.test')).toMatchObject({ outcome: 'delivered', answer: `host hook.test:${port}` });
    expect(await to('other.test'), 'does not reuse the connection of another name').toMatchObject({
      outcome: 'unreachable',
      error: 'The certificate is for another name.',
    });
    expect(await to('hook.test')).toMatchObject({ outcome: 'delivered' });
  });

  test('an unknown authority is refused', async () => {
    const attempt = await send(`https://hook.test:${port}/`, { resolve });
    expect(attempt).toMatchObject({ outcome: 'unreachable', status: null });
    expect(attempt.error).toContain('not signed by a trusted authority');
  });
});
