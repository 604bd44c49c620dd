import { describe, expect, test } from 'vitest';
import { type Scope, scopes } from '../../../events/scopes.ts';
import { created, type Json } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { mcpClient } from '../../support/mcp.ts';
import { holdWindows } from '../../support/rate-windows.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { useService } from '../../support/service.ts';

const service = useService({ projections: false });
const url = () => service.urls[0] as string;

const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

interface Sent {
  key?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

const send = ({ key = '', method = 'POST', headers = {}, body = listing }: Sent) =>
  fetch(`${url()}/mcp`, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${key}`,
      ...headers,
    },
    ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
  });

const outcome = async (response: Response) => [response.status, ((await response.json()) as Json).error?.code];

const reading = ['find_codes', 'resolve', 'image', 'preflight', 'sheet', 'history'];
const changing = ['create_code', 'update_code', 'undo'];
const counting = ['analytics', 'compare'];

describe('the scopes of a key decide which tools it sees', () => {
  test.each<[string, Scope[] | null, string[]]>([
    ['full access', null, [...reading, ...changing, ...counting, 'audit']],
    ['codes.read', ['codes.read'], reading],
    ['codes.write', ['codes.write'], [...changing, 'delete_code']],
    ['analytics.read', ['analytics.read'], counting],
    ['every scope', [...scopes], [...reading, ...changing, ...counting, 'audit', 'delete_code']],
    ['account.read', ['account.read'], []],
  ])('%s', async (_, granted, expected) => {
    const { live, keys } = await service.account();
    const limited = granted && (await live.post('/v1/account/keys', { name: 'Limited', scopes: granted })).body.key;
    const mcp = await mcpClient(url(), limited ?? keys.live);
    expect((await mcp.tools()).map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
  });

  test('a tool that is not listed cannot be called, and delete_code works where it is listed', async () => {
    const { live, keys } = await service.account();
    const code = await created(live);
    const full = await mcpClient(url(), keys.live);
    await expect(full.send('delete_code', { qr_id: code.id })).rejects.toThrow('There is no tool delete_code');
    expect((await live.get(`/v1/qrcodes/${code.id}`)).status).toBe(200);
    const { key } = (await live.post('/v1/account/keys', { name: 'Limited', scopes: ['codes.write'] })).body;
    const limited = await mcpClient(url(), key);
    await expect(limited.send('find_codes')).rejects.toThrow('There is no tool find_codes');
    expect(await limited.call('delete_code', { qr_id: code.id })).toEqual({ deleted: true, id: code.id });
  });

  test('descriptions say what a tool does to clients that ask before changes', async () => {
    const { live } = await service.account();
    const { key } = (await live.post('/v1/account/keys', { name: 'All', scopes: [...scopes] })).body;
    const tools = await (await mcpClient(url(), key)).tools();
    const hinted = (hint: 'readOnlyHint' | 'destructiveHint') =>
      tools.filter(({ annotations }) => annotations?.[hint]).map(({ name }) => name);
    expect(hinted('readOnlyHint').toSorted()).toEqual([...reading, ...counting, 'audit'].toSorted());
    expect(hinted('destructiveHint')).toEqual(['delete_code']);
    for (const { name, description, inputSchema } of tools) {
      expect(description?.length, name).toBeGreaterThan(100);
      expect(JSON.stringify(inputSchema), name).not.toContain('"x-');
    }
  });
});

describe('requests are admitted like requests to /v1', () => {
  test('without a valid key 401, and of a suspended account 403', async () => {
    expect(await outcome(await send({}))).toEqual([401, 'unauthorized']);
    const { id, keys } = await service.account();
    await service.database.sql`UPDATE accounts SET suspended_at = now(), suspended_reason = 'Spam' WHERE id = ${id}`;
    expect(await outcome(await send({ key: keys.live }))).toEqual([403, 'account_suspended']);
  });

  test('each counts in the window of the account, and a batch cannot count as one', async () => {
    const { live, keys } = await service.account('free');
    const left = ({ headers }: { headers: Headers }) => Number(headers.get('x-ratelimit-remaining'));
    const before = await live.get('/v1/qrcodes');
    await holdWindows(service.database.sql);
    const response = await send({ key: keys.live });
    expect([response.status, left(response)]).toEqual([200, left(before) - 1]);
    expect(await outcome(await send({ key: keys.live, body: [listing, listing] }))).toEqual([400, 'invalid_request']);
    for (let i = left(response) - 1; i > 0; i--) expect((await send({ key: keys.live })).status).toBe(200);
    expect(await outcome(await send({ key: keys.live }))).toEqual([429, 'rate_limited']);
  });

  test('a test key sees test codes only', async () => {
    const { live, test: testApi, keys } = await service.account();
    await created(live);
    const code = await created(testApi);
    const { data } = await (await mcpClient(url(), keys.test)).call('find_codes');
    expect(data.map(({ id }: Json) => id)).toEqual([code.id]);
  });
});

describe('a hostile page cannot use it', () => {
  test.each(['https://evil.example', 'http://localhost', 'null', 'http://localhost.evil.example'])(
    'with the Origin %s',
    async (origin) => {
      const { keys } = await service.account();
      expect(await outcome(await send({ key: keys.live, headers: { origin } }))).toEqual([403, 'origin_not_allowed']);
    },
  );

  test('its own origin is allowed', async () => {
    const { keys } = await service.account();
    expect((await send({ key: keys.live, headers: { origin: url() } })).status).toBe(200);
  });

  test.each([
    ['evil.example', 403],
    ['127.0.0.1:1', 200],
    ['localhost', 200],
  ])('a request for the host %s is answered with %i', async (host, status) => {
    const { keys } = await service.account();
    const body = JSON.stringify(listing);
    const head = [
      'POST /mcp HTTP/1.1',
      `Host: ${host}`,
      `Authorization: Bearer ${keys.live}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Content-Length: ${body.length}`,
    ];
    expect((await sendRaw(url(), head, body)).status).toBe(status);
  });
});

test.each(['GET', 'DELETE', 'PUT', 'OPTIONS'])('%s is answered with 405, with a key or without', async (method) => {
  const response = await send({ method });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
});

test('a code that had the short code before the word was reserved keeps its link', async () => {
  const { live, keys } = await service.account();
  const response = await live.post('/v1/qrcodes', {
    name: 'M',
    destination_url: 'https://m.example',
    short_code: 'mcp',
  });
  expect(response.status).toBe(400);
  const scan = (method = 'GET') => fetch(`${url()}/mcp`, { method, redirect: 'manual' });
  const answerTo = async (shortCode: string) => {
    const { status, headers } = await fetch(`${url()}/${shortCode}`, { redirect: 'manual' });
    return [status, headers.get('content-type'), headers.get('allow')];
  };
  expect(await answerTo('mcp'), 'like every unknown short code').toEqual(await answerTo('no-such-code'));
  const code = await created(live, { short_code: 'was-free' });
  await service.database.sql`UPDATE codes SET short_code = 'mcp' WHERE id = ${code.id}`;
  await eventually(async () => expect((await scan()).headers.get('location')).toBe(code.destination_url));
  expect((await scan('HEAD')).status).toBe(302);
  expect((await send({ method: 'GET' })).status, 'a client of the protocol').toBe(405);
  expect((await send({ key: keys.live })).status).toBe(200);
});
