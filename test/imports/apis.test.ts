import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient } from '../../src/imports/client.ts';
import type { SourceLink } from '../../src/imports/link.ts';
import type { SourceName } from '../../src/imports/source-names.ts';
import { sourceOf } from '../../src/imports/sources.ts';
import { manualTimers } from '../support/timers.ts';
import { items } from './shapes.ts';

/** A server that answers like an API, with what a test sets. */
let answer: (request: Request) => Response | Promise<Response>;
let requests: { url: string; headers: Headers }[] = [];
let server: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    fetch(request) {
      // Bun empties a request when it has been answered.
      requests.push({ url: request.url, headers: new Headers(request.headers) });
      return answer(request);
    },
  });
});
afterAll(() => server.stop(true));
beforeEach(() => {
  requests = [];
});

const urlOf = (path = '') => `http://localhost:${server.port}${path}`;
const queryOf = ({ url }: Request, name: string) => new URL(url).searchParams.get(name);

async function linksOf(source: SourceName, path = ''): Promise<SourceLink[]> {
  const client = createClient({ url: urlOf(path), key: 'the-key', onPause: () => {}, timers: manualTimers() });
  const links: SourceLink[] = [];
  for await (const page of sourceOf(source)?.pages?.(client) ?? []) links.push(...page.links);
  return links;
}

/** `count` entries like `item`, each with its own number in `field`. */
const many = (item: object, field: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ ...item, id: `id-${from + i}`, [field]: `code-${from + i}` }));

const codesOf = (links: SourceLink[]) => links.map(({ shortCode }) => shortCode);
const codes = (count: number) => Array.from({ length: count }, (_, i) => `code-${i}`);

test('Bitly: all groups, page by page, with the key only for the host of the URL', async () => {
  const bitlink = (code: string) => ({ ...items.bitly.item, custom_bitlinks: [], link: `https://bit.ly/${code}` });
  answer = (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/v4/groups') return Response.json({ groups: [{ guid: 'Ba1' }, { guid: 'Ba2' }] });
    if (pathname === '/v4/groups/Ba2/bitlinks') return Response.json({ links: [bitlink('code-2')], pagination: {} });
    return queryOf(request, 'search_after') === null
      ? Response.json({
          links: [bitlink('code-0')],
          pagination: { next: 'https://api-ssl.bitly.com/v4/groups/Ba1/bitlinks?search_after=x' },
        })
      : Response.json({ links: [bitlink('code-1')], pagination: { next: '' } });
  };
  expect(codesOf(await linksOf('bitly', '/v4'))).toEqual(codes(3));
  expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(Array(4).fill('Bearer the-key'));
});

test('Dub: pages of 100', async () => {
  answer = (request) => {
    const page = Number(queryOf(request, 'page'));
    return Response.json(many(items.dub.item, 'key', page === 1 ? 100 : 20, (page - 1) * 100));
  };
  expect(codesOf(await linksOf('dub'))).toEqual(codes(120));
});

test('Kutt: pages of 50, until the total is reached', async () => {
  answer = (request) => {
    const skip = Number(queryOf(request, 'skip'));
    return Response.json({ total: 100, limit: 50, skip, data: many(items.kutt.item, 'address', 50, skip) });
  };
  expect(codesOf(await linksOf('kutt'))).toEqual(codes(100));
  expect(requests.map(({ headers }) => headers.get('x-api-key'))).toEqual(['the-key', 'the-key']);
});

test('YOURLS: the statistics, with the signature', async () => {
  answer = () =>
    Response.json({
      links: { link_1: items.yourls.item },
      stats: { total_links: '1', total_clicks: '3' },
      statusCode: '200',
    });
  expect(codesOf(await linksOf('yourls', '/links'))).toEqual(['menu']);
  const url = new URL(requests[0]?.url ?? '');
  expect(url.pathname).toBe('/links/yourls-api.php');
  expect(Object.fromEntries(url.searchParams)).toMatchObject({ action: 'stats', signature: 'the-key', start: '0' });
});

test('Rebrandly: pages of 25 after the last link, of the workspace in the URL', async () => {
  answer = (request) => {
    const last = queryOf(request, 'last');
    const from = last === null ? 0 : Number(last.slice(3)) + 1;
    return Response.json(many(items.rebrandly.item, 'slashtag', from === 50 ? 5 : 25, from));
  };
  expect(codesOf(await linksOf('rebrandly', '/v1?workspace=w1'))).toEqual(codes(55));
  expect(requests.map(({ headers }) => [headers.get('apikey'), headers.get('workspace')])).toEqual(
    Array(3).fill(['the-key', 'w1']),
  );
});

test('Short.io: all domains, page by page', async () => {
  answer = (request) => {
    if (new URL(request.url).pathname === '/api/domains') return Response.json([{ id: 7, hostname: 'short.test' }]);
    expect(queryOf(request, 'domain_id')).toBe('7');
    const isFirst = queryOf(request, 'pageToken') === null;
    const links = many(items['short-io'].item, 'path', 2, isFirst ? 0 : 2);
    return Response.json({ count: 4, links, nextPageToken: isFirst ? 'next' : null });
  };
  expect(codesOf(await linksOf('short-io'))).toEqual(codes(4));
});

test('Shlink: all pages, and the rules of links that have some', async () => {
  const redirectRules = [
    {
      longUrl: 'https://example.com/ios',
      priority: 1,
      conditions: [{ type: 'device', matchKey: null, matchValue: 'ios' }],
    },
  ];
  answer = (request) => {
    if (new URL(request.url).pathname === '/rest/v3/short-urls/code-1/redirect-rules')
      return Response.json({ defaultLongUrl: 'https://example.com/menu', redirectRules });
    const page = Number(queryOf(request, 'page'));
    const [item] = many(items.shlink.item, 'shortCode', 1, page - 1);
    const data = [{ ...item, hasRedirectRules: page === 2 }];
    return Response.json({ shortUrls: { data, pagination: { currentPage: page, pagesCount: 2, totalItems: 2 } } });
  };
  const links = await linksOf('shlink');
  expect(codesOf(links)).toEqual(codes(2));
  expect(links.map(({ rules }) => rules.length)).toEqual([0, 1]);
});

test('a rate limit is waited for as long as the API asks', async () => {
  const timers = manualTimers();
  const pauses: number[] = [];
  const client = createClient({ url: urlOf(), key: 'k', onPause: (seconds) => pauses.push(seconds), timers });
  answer = () =>
    requests.length === 1 ? new Response('', { status: 429, headers: { 'retry-after': '30' } }) : Response.json([1]);
  const read = client.get(new URL(urlOf()), {});
  await timers.next();
  expect(await read).toEqual([1]);
  expect(pauses).toEqual([30]);
  expect(timers.now()).toBe(30_000);
});

test.each([
  [401, {}, 'answered 401: check --key or IMPORT_KEY'],
  [302, { location: 'https://elsewhere.test/' }, 'redirects to https://elsewhere.test/: use that URL'],
  [429, { 'retry-after': '7200' }, 'answered 429'],
])('a response %i ends the import at once', async (status, headers, message) => {
  answer = () => new Response('', { status, headers });
  await expect(linksOf('kutt')).rejects.toThrow(message);
  expect(requests).toHaveLength(1);
});

test('a response that is no JSON is reported as a wrong URL', async () => {
  answer = () => new Response('<html>');
  await expect(linksOf('kutt')).rejects.toThrow('did not answer with JSON: check the URL');
});
