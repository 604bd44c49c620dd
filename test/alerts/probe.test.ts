import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Probed, probe } from '../../src/alerts/probe.ts';
import { readProblem, storedProblem } from '../../src/alerts/problems.ts';
import { type IpRanges, parseRanges } from '../../src/lib/ip-range.ts';
import { textsIn } from '../../src/texts/in-language.ts';
import { withTimeouts } from '../support/with-timeouts.ts';

/** Responses of HTTP by path, without their version. */
const responses: Record<string, (method: string) => string> = {
  '/fine': () => '200 OK',
  '/only-get': (method) => (method === 'HEAD' ? '405 No' : '200 OK'),
  '/not-for-robots': () => '403 No',
  '/gone': () => '404 Not Found',
  '/broken': () => '503 Later',
  '/moved': () => '302 Found\r\nlocation: /fine',
  '/moved-away': () => '302 Found\r\nlocation: /gone',
  '/circle': () => '302 Found\r\nlocation: /circle',
  '/to-app': () => '302 Found\r\nlocation: shop://menu',
  '/inside': () => '302 Found\r\nlocation: http://127.0.0.9/metadata',
};
const agents = new Set<string>();
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (data) => {
    const [, method = '', path = ''] = /^(\w+) (\S+)/.exec(String(data)) ?? [];
    agents.add(/user-agent: (.*)/i.exec(String(data))?.[1]?.trim() ?? '');
    // `/silent` never gets a response.
    const response = responses[path]?.(method);
    if (response !== undefined) socket.end(`HTTP/1.1 ${response}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  });
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

const check = (url: string, addresses = ['127.0.0.1']): Promise<Probed> =>
  probe(url, {
    policy: { allowHttp: true, allowed: parseRanges('127.0.0.1') as IpRanges },
    resolve: async () => addresses,
    userAgent: 'Scanlog-Alerts/1 (+https://qr.example.com)',
    stopping: new AbortController().signal,
  });

test('ports that are not of websites are not tried, except where the operator allows the address', async () => {
  expect(await check('http://menu.example:22/', ['93.184.215.14'])).toEqual({ state: 'unknown' });
  expect(await check(`http://menu.example:${port}/fine`, ['93.184.215.14', '127.0.0.1'])).toEqual({ state: 'up' });
});

test.each([
  ['/fine', 'up'],
  ['/only-get', 'up'],
  ['/not-for-robots', 'up'],
  ['/moved', 'up'],
  ['/to-app', 'up'],
  ['/inside', 'unknown'],
])('%s is %s', async (path, state) => {
  expect(await check(`http://menu.example:${port}${path}`)).toEqual({ state });
  expect([...agents]).toEqual(['Scanlog-Alerts/1 (+https://qr.example.com)']);
});

const problems = textsIn('en').alert.problems;
/** What a check says in English about a website that is down. */
const sentenceOf = (found: Probed) =>
  found.state === 'down' ? readProblem(storedProblem(found.problem), problems) : found.state;

test.each([
  ['/gone', /^menu\.example:\d+ answers that the page does not exist \(404\)\.$/],
  ['/broken', /answers with an error of its own \(503\)\.$/],
  ['/moved-away', /does not exist \(404\)\.$/],
  ['/circle', /redirects in circles\.$/],
])('%s is down: %s', async (path, problem) => {
  const found = await check(`http://menu.example:${port}${path}`);
  expect(found).toMatchObject({ state: 'down', isAnswered: true });
  expect(sentenceOf(found)).toMatch(problem);
});

test('a website is down if it does not answer, does not exist, or refuses connections', async () => {
  const silent = withTimeouts({ destinationRequestMs: 1_000 }, () => check(`http://menu.example:${port}/silent`));
  for (const [found, problem] of [
    [await silent, / does not answer\.$/],
    [await check('http://menu.example/', []), /^The address of menu\.example cannot be found\.$/],
    [await check('http://menu.example:1/'), /cannot be reached\. The connection was refused/],
  ] as const) {
    expect(found).toMatchObject({ state: 'down', isAnswered: false });
    expect(sentenceOf(found)).toMatch(problem);
  }
});

test('a problem that an earlier version has stored is a sentence already', () => {
  for (const stored of ['example.com does not answer.', '{"kind":"other"}'])
    expect(readProblem(stored, problems)).toBe(stored);
});

test('private addresses are not called, and their websites are neither up nor down', async () => {
  expect(await check('http://printer.example/', ['192.168.1.7'])).toEqual({ state: 'unknown' });
  expect(await check('http://169.254.169.254/latest')).toEqual({ state: 'unknown' });
});
