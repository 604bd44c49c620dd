import { describe, expect, test } from 'vitest';
import {
  createKey,
  createQrCode,
  createQrCodes,
  each,
  type Followed,
  follow,
  isScanlogError,
  listAuditEvents,
  listEvents,
  listQrCodes,
  Scanlog,
  updateQrCode,
  uploadLogo,
} from '../../clients/typescript/src/index.ts';
import { created, newCode } from '../support/api.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });

type Fetch = (url: string, init: RequestInit) => Promise<Response>;
const pass: Fetch = (url, init) => fetch(url, init);

/** A client of a new account that does not wait before it repeats a request, but records for how long it would. */
async function connect(send: Fetch = pass) {
  const account = await service.account();
  const pauses: number[] = [];
  const sleep = async (ms: number) => {
    pauses.push(ms);
  };
  const client = new Scanlog({ key: account.keys.live, baseUrl: `${service.urls[0]}/`, fetch: send, sleep });
  return { client, account, pauses };
}

/** Answers the first requests with what `failures` return, and passes on all others. */
function failing(
  ...failures: ((url: string, init: RequestInit) => Promise<Response> | Response)[]
): Fetch & { sent: RequestInit[] } {
  const sent: RequestInit[] = [];
  const send: Fetch = async (url, init) => {
    sent.push(init);
    return failures.shift()?.(url, init) ?? fetch(url, init);
  };
  return Object.assign(send, { sent });
}

const refused = (status: number, headers: Record<string, string> = {}) =>
  new Response('<h1>Sorry</h1>', { status, headers });
const lost = () => Promise.reject(new TypeError('connection reset'));
const body = { name: 'Menu', destination_url: 'https://example.com' };

describe('a request', () => {
  test('is repeated after failures, and creates one code', async () => {
    const send = failing(
      () => refused(503),
      () => refused(429, { 'retry-after': '7' }),
      // The service has created the code, but its response is lost.
      (url, init) => fetch(url, init).then(lost),
    );
    const { client, account, pauses } = await connect(send);
    const code = await createQrCode({ client, body });
    expect(pauses).toEqual([expect.any(Number), 7_000, expect.any(Number)]);
    expect(new Set(send.sent.map(({ headers }) => (headers as Headers).get('idempotency-key'))).size).toBe(1);
    const { data, pagination } = (await account.live.get('/v1/qrcodes')).body;
    expect([data[0].id, pagination.total]).toEqual([code.id, 1]);
  });

  test('that may have been done is not repeated without an idempotency key, but after a rate limit', async () => {
    const { client, pauses } = await connect(failing(() => refused(429, { 'retry-after': '1' }), lost));
    const error = await createKey({ client, body: { name: 'Once', mode: 'live' } }).catch((caught) => caught);
    expect(isScanlogError(error, 'connection_failed')).toBe(true);
    expect(pauses).toEqual([1_000]);
  });

  test('is given up after three repetitions, or if the service asks for more than a minute', async () => {
    const { client, pauses } = await connect(
      failing(lost, lost, lost, lost, () => refused(503, { 'retry-after': '61' })),
    );
    await expect(listQrCodes({ client })).rejects.toMatchObject({ code: 'connection_failed', status: undefined });
    expect(pauses).toHaveLength(3);
    await expect(listQrCodes({ client })).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
      retryAfterMs: 61_000,
    });
    expect(pauses).toHaveLength(3);
  });

  test('whose response is cut off fails as a lost connection', async () => {
    const cut = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"data": ['));
        controller.error(new TypeError('connection reset'));
      },
    });
    const headers = { 'content-type': 'application/json' };
    const { client } = await connect(failing(() => new Response(cut, { headers })));
    await expect(listQrCodes({ client })).rejects.toMatchObject({ name: 'ScanlogError', code: 'connection_failed' });
  });

  test('fails with the code, the details and the id of the response', async () => {
    const { client } = await connect();
    const { id, short_code } = await createQrCode({ client, body });
    const taken = await createQrCode({ client, body: { ...body, short_code } }).catch((error) => error);
    expect(isScanlogError(taken, 'short_code_taken')).toBe(true);
    expect(isScanlogError(taken, 'not_found')).toBe(false);
    const error = await updateQrCode({ client, path: { id }, body: { name: '' } }).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'invalid_request', status: 400, details: [{ field: 'name' }] });
    expect(error.requestId).toMatch(/^req_/);
    for (const [wrong, code] of Object.entries({
      'a/../b': 'not_found',
      '..': 'invalid_request',
      '': 'invalid_request',
    }))
      await expect(updateQrCode({ client, path: { id: wrong }, body: { name: 'B' } })).rejects.toMatchObject({ code });
  });

  test('is cancelled by its signal, also while it waits to be repeated', async () => {
    const stopping = new AbortController();
    const { keys } = await service.account();
    const send = failing(() => {
      queueMicrotask(() => stopping.abort(new Error('stopped')));
      return refused(503, { 'retry-after': '60' });
    });
    const client = new Scanlog({ key: keys.live, baseUrl: service.urls[0] as string, fetch: send });
    await expect(listQrCodes({ client, signal: stopping.signal })).rejects.toThrow('stopped');
    await expect(listQrCodes({ client, signal: stopping.signal })).rejects.toThrow('stopped');
    expect(send.sent).toHaveLength(1);
  });

  test('sends a file with its own media type', async () => {
    const { client } = await connect();
    const image = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>';
    const logo = await uploadLogo({ client, body: new Blob([image], { type: 'image/svg+xml' }) });
    expect(logo.format).toBe('svg');
  });
});

describe('each', () => {
  test('reads lists with cursors, lists with pages and the feed to their end', async () => {
    const { client } = await connect();
    const qrcodes = Array.from({ length: 5 }, (_, i) => ({ ...body, name: `Code ${i}`, tags: ['a', 'b'] }));
    await createQrCodes({ client, body: { qrcodes } });
    const names: string[] = [];
    const query = { limit: 2, tag: ['a', 'b'], sort: 'name' as const };
    for await (const { name } of each(listQrCodes, { client, query })) names.push(name);
    expect(names).toEqual(['Code 0', 'Code 1', 'Code 2', 'Code 3', 'Code 4']);
    for (const name of ['A', 'B', 'C']) await createKey({ client, body: { name, mode: 'test' } });
    const audited: string[] = [];
    const options = { client, query: { type: 'key.created', limit: 1 } };
    for await (const { type } of each(listAuditEvents, options)) audited.push(type);
    expect(audited.length).toBeGreaterThanOrEqual(3);
    let events = 0;
    for await (const { type } of each(listEvents, { client, query: { types: 'code.created', limit: 2 } })) {
      expect(type).toBe('code.created');
      events++;
    }
    expect(events).toBe(5);
  });
});

describe('follow', () => {
  /** The next events of an iteration. */
  async function take(events: AsyncGenerator<Followed>, count: number): Promise<string[]> {
    const found: string[] = [];
    while (found.length < count) {
      const { value, done } = await events.next();
      if (done) break;
      found.push((value.event.data as { to: { name: string } }).to.name);
    }
    return found;
  }

  test('goes on after the last event when connections are cut, each event once', async () => {
    let connections = 0;
    // Each stream is cut in the middle of a message, after one whole event.
    const { client, account } = await connect(async (url, init) => {
      const response = await fetch(url, init);
      if (!url.includes('/v1/events')) return response;
      connections++;
      return new Response(response.body?.pipeThrough(cutAfterOneEvent()), response);
    });
    const names = ['One', 'Two', 'Three'];
    for (const name of names) await created(account.live, { name });
    const reasons: unknown[] = [];
    const query = { types: 'code.created' };
    const events = follow({ client, query, onReconnect: (reason) => reasons.push(reason) });
    expect(await take(events, 3)).toEqual(names);
    await events.return();
    expect(connections).toBe(3);
    expect(reasons).toHaveLength(2);
  });

  test('begins at the end with `now`, and misses nothing if the first connection is lost', async () => {
    let streams = 0;
    const { client, account } = await connect(async (url, init) => {
      const isStream = (init.headers as Headers).get('accept') === 'text/event-stream';
      if (isStream && streams++ === 0) {
        await created(account.live, { name: 'Meanwhile' });
        return lost();
      }
      return fetch(url, init);
    });
    await created(account.live, { name: 'Before' });
    const events = follow({ client, query: { after: 'now', types: 'code.created' } });
    expect(await take(events, 1)).toEqual(['Meanwhile']);
    await events.return();
  });

  test('ends with its signal, and throws if the key is not valid', async () => {
    const { client, account } = await connect();
    await created(account.live, newCode({ name: 'Only' }));
    const stopping = new AbortController();
    const events = follow({ client, query: { types: 'code.created' }, signal: stopping.signal });
    expect(await take(events, 1)).toEqual(['Only']);
    const rest = take(events, 1);
    stopping.abort();
    expect(await rest).toEqual([]);
    const stranger = new Scanlog({ key: 'sk_live_unknown', baseUrl: service.urls[0] as string });
    await expect(follow({ client: stranger }).next()).rejects.toMatchObject({ code: 'unauthorized' });
  });
});

/** Passes on one event and half of the next one, and then fails. */
function cutAfterOneEvent(): TransformStream<Uint8Array, Uint8Array> {
  let text = '';
  return new TransformStream({
    transform(chunk, controller) {
      text += new TextDecoder().decode(chunk);
      const end = text.indexOf('\n\n', text.indexOf('id: '));
      if (!text.includes('id: ') || end === -1) return;
      controller.enqueue(new TextEncoder().encode(text.slice(0, end + 12)));
      controller.error(new TypeError('connection reset'));
    },
  });
}
