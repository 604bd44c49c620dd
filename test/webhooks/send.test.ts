import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type IpRanges, parseRanges } from '../../src/lib/ip-range.ts';
import type { Resolve } from '../../src/webhooks/destination.ts';
import { createSender, type SenderOptions } from '../../src/webhooks/send.ts';
import { authority, certificate, privateKey } from './certificate.ts';
import { answer, hang, reset, useReceiver } from './receiver.ts';
import { newPath } from './webhook-support.ts';

const receiver = useReceiver();
const timeoutMs = 400;
const ranges = (text: string) => parseRanges(text) as IpRanges;
const policy = { allowHttp: true, allowed: ranges('127.0.0.1') };
const send = (url: string, options: Partial<SenderOptions> = {}) =>
  createSender({ policy, timeoutMs, ...options })({ url, body: '{}', headers: { 'webhook-id': 'whd_1' } });

/** A path whose requests are answered so. */
const behaving = (behaviour: Parameters<typeof receiver.behave>[1]) => {
  const path = newPath();
  receiver.behave(path, behaviour);
  return receiver.url(path);
};

describe('an answer', () => {
  test.each([200, 201, 204, 299])('%i is a success', async (status) => {
    const url = behaving(answer(status, status === 204 ? '' : 'thanks'));
    expect(await send(url)).toMatchObject({ outcome: 'delivered', status, error: null });
  });

  test.each([400, 404, 410, 429, 500, 503])(
    '%i is a failure, with what it said and when to come again',
    async (status) => {
      const url = behaving(answer(status, 'no', { 'retry-after': 7 }));
      const attempt = await send(url);
      expect(attempt).toMatchObject({ outcome: 'refused', status, answer: 'no', retryAfter: '7' });
      expect(attempt.error).toContain(String(status));
    },
  );

  test.each([301, 302, 303, 307, 308])('%i is a failure: redirects are not followed', async (status) => {
    const elsewhere = newPath();
    const url = behaving(answer(status, '', { location: receiver.url(elsewhere) }));
    expect(await send(url)).toMatchObject({ outcome: 'refused', status, error: expect.stringContaining('redirect') });
    expect(receiver.received(elsewhere)).toEqual([]);
  });

  test('of 10 MB is cut off, and its first KiB kept', async () => {
    let written = 0;
    const url = behaving((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\n');
      const more = () => {
        while (written < 10_000_000 && !socket.destroyed && socket.write('x'.repeat(50_000))) written += 50_000;
      };
      socket.on('drain', more);
      more();
    });
    const attempt = await send(url);
    expect(attempt).toMatchObject({ outcome: 'delivered', status: 200, answer: 'x'.repeat(1024) });
    expect(written, 'the rest was never read').toBeLessThan(10_000_000);
  });

  test.each([
    ['broken UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\uFFFDb'],
    ['NUL, which Postgres cannot keep', Buffer.from('a\0b'), 'a\uFFFDb'],
    ['a character cut in half by the limit', Buffer.from(`${'a'.repeat(1023)}é and more`), 'a'.repeat(1023)],
    ['compressed, which is not unpacked', Buffer.from('zip'), 'zip'],
  ])('with %s is kept as text', async (_, bytes, kept) => {
    const url = behaving((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    });
    expect(await send(url)).toMatchObject({ outcome: 'delivered', answer: kept });
  });
});

describe('no proper answer', () => {
  test('none at all ends at the limit', async () => {
    expect(await send(behaving(hang))).toMatchObject({
      outcome: 'timeout',
      status: null,
      error: 'No answer within 0.4 s.',
    });
  });

  test('headers that drip never end the wait', async () => {
    const url = behaving((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-more: yes\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await send(url)).toMatchObject({ outcome: 'timeout', status: null });
  });

  test('a body that drips for ever is cut off; what came is kept', async () => {
    const url = behaving((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const timer = setInterval(() => socket.write('1\r\na\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const attempt = await send(url);
    expect(attempt).toMatchObject({ outcome: 'timeout', status: 200, answer: expect.stringMatching(/^a+$/) });
    expect(attempt.error).toContain('did not end within');
  });

  test.each([
    ['a reset', reset, 'closed before an answer'],
    ['an end without a word', (socket: Parameters<typeof hang>[0]) => void socket.end(), 'closed before an answer'],
    ['something else than HTTP', (socket: Parameters<typeof hang>[0]) => void socket.end('220 smtp\r\n\r\n'), ''],
  ])('%s is told in words', async (_, behaviour, words) => {
    const attempt = await send(behaving(behaviour));
    expect(attempt).toMatchObject({ outcome: 'unreachable', status: null });
    expect(attempt.error).toContain(words);
  });

  test('nobody listening is told in words', async () => {
    const server = createTcpServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({
      outcome: 'unreachable',
      error: 'The connection was refused: nothing listens there.',
    });
  });

  test('a name that leads nowhere is told in words', async () => {
    const attempt = await send('http://nowhere.test/', { resolve: async () => [] });
    expect(attempt).toMatchObject({ outcome: 'unreachable', error: 'The name nowhere.test could not be resolved.' });
  });
});

describe('where it goes', () => {
  test('is the address that was vetted, under the name’s Host, whatever the name leads to a moment later', async () => {
    const path = newPath();
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['169.254.169.254']];
    const asked: string[] = [];
    const resolve: Resolve = async (name) => {
      asked.push(name);
      return answers.shift() ?? [];
    };
    const url = `http://rebinding.test:${receiver.port}/${path}`;
    expect(await send(url, { resolve })).toMatchObject({ outcome: 'delivered' });
    expect(asked, 'it is resolved once').toEqual(['rebinding.test']);
    expect(receiver.received(path)[0]?.headers['host']).toBe(`rebinding.test:${receiver.port}`);
  });

  test('is never an address that must not be called, though the name was fine before', async () => {
    const path = newPath();
    const resolve: Resolve = async () => ['169.254.169.254', '10.0.0.1', '::ffff:127.0.0.9', '64:ff9b::7f00:1'];
    const attempt = await send(`http://rebinding.test:${receiver.port}/${path}`, { resolve });
    expect(attempt).toMatchObject({ outcome: 'forbidden', status: null, answer: null });
    expect(attempt.error, 'what it leads to stays with us').not.toMatch(/169\.254|10\.0|64:ff9b/);
  });

  test('of several addresses it is one of those that may be called', async () => {
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

  test('the certificate must be for the name, not for the address', async () => {
    const send = createSender({ policy, ca: authority, resolve, timeoutMs: 5_000 });
    const to = (name: string) => send({ url: `https://${name}:${port}/`, body: '{}', headers: {} });
    expect(await to('hook.test')).toMatchObject({ outcome: 'delivered', answer: `host hook.test:${port}` });
    expect(await to('other.test'), 'on a connection of its own').toMatchObject({
      outcome: 'unreachable',
      error: 'The certificate is for another name.',
    });
    expect(await to('hook.test')).toMatchObject({ outcome: 'delivered' });
  });

  test('an authority that nobody knows is refused', async () => {
    const attempt = await send(`https://hook.test:${port}/`, { resolve, timeoutMs: 5_000 });
    expect(attempt).toMatchObject({ outcome: 'unreachable', status: null });
    expect(attempt.error).toContain('signed by nobody we trust');
  });
});
