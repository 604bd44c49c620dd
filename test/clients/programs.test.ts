import { afterEach, describe, expect, test, vi } from 'vitest';
import { Scanlog, verifyWebhook, type WebhookEvent } from '../../clients/typescript/src/index.ts';
import { forwardEvents, readOptions } from '../../src/cli/listen.ts';
import { newSigningSecret } from '../../src/webhooks/secrets.ts';
import { created } from '../support/api.ts';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });

describe('./scanlog listen', () => {
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop();
  });

  interface Received {
    id: string | null;
    event: WebhookEvent;
  }

  /** A server that verifies and keeps what it receives, and answers with these statuses, then with 204. */
  function receive(secret: string, ...statuses: number[]) {
    const received: Received[] = [];
    const server = Bun.serve({
      port: 0,
      async fetch(request) {
        const { headers } = request;
        const event = await verifyWebhook({ body: await request.text(), headers, secret });
        received.push({ id: headers.get('webhook-id'), event });
        return new Response(null, { status: statuses.shift() ?? 204 });
      },
    });
    stops.push(() => server.stop(true));
    return { received, url: server.url.href };
  }

  /** Collects what is printed until the test ends. */
  function printed(): () => string {
    let text = '';
    const spy = vi.spyOn(process.stdout, 'write').mockImplementation((more) => {
      text += more;
      return true;
    });
    stops.push(() => spy.mockRestore());
    return () => text;
  }

  test('posts each event once, signed like a webhook, and prints the answers, also after a lost connection', async () => {
    const { live, keys } = await service.account();
    const secret = newSigningSecret();
    const { received, url } = receive(secret, 204, 500);
    let streams = 0;
    const client = new Scanlog({
      key: keys.live,
      baseUrl: service.urls[0] as string,
      sleep: async () => {},
      fetch: async (to, init) => {
        const isFirst = (init.headers as Headers).has('accept') && streams++ === 0;
        return isFirst ? Promise.reject(new TypeError('connection reset')) : fetch(to, init);
      },
    });
    await created(live, { name: 'Before' });
    const output = printed();
    const stopping = new AbortController();
    const { signal } = stopping;
    const forwarding = {
      client,
      to: url,
      types: 'code.created,code.updated,code.deleted,scan.created',
      secret,
      signal,
    };
    const listening = forwardEvents({ ...forwarding, after: 'now' });
    stops.push(async () => {
      stopping.abort();
      await listening;
    });
    await eventually(() => expect(streams).toBeGreaterThanOrEqual(2));

    const { id, short_url } = await created(live, { name: 'Menu' });
    await fetch(short_url, { redirect: 'manual' });
    await eventually(() => expect(received).toHaveLength(2));
    await live.patch(`/v1/qrcodes/${id}`, { name: 'Card' });
    await eventually(() => expect(received).toHaveLength(3));
    await live.delete(`/v1/qrcodes/${id}`);
    await eventually(() => expect(output().match(/code\.deleted/g)).toHaveLength(1));

    expect(received.map(({ event }) => event)).toMatchObject([
      { type: 'code.created', data: { qr_id: id, qr_name: 'Menu' } },
      { type: 'scan.created', data: { qr_id: id, qr_name: 'Menu', is_unique: true } },
      { type: 'code.updated', data: { qr_id: id, qr_name: 'Card', field: 'name', from: 'Menu', to: 'Card' } },
      { type: 'code.deleted', data: { qr_id: id } },
    ]);
    expect(new Set(received.map((request) => request.id)).size).toBe(4);
    for (const request of received) expect(request.id).toMatch(/^whd_/);
    const lines = output().split('\n');
    expect(output()).toContain(secret);
    for (const [type, status] of [
      ['code.created', 204],
      ['scan.created', 500],
      ['code.updated', 204],
      ['code.deleted', 204],
    ])
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`Z {2}${type} {2}${id} {2}${status} {2}\\d+ ms$`)));
  });

  test('goes on when no one answers, and ends if the key is refused', async () => {
    const { live, keys } = await service.account();
    await created(live, { name: 'Menu' });
    const { after, ...options } = readOptions(
      { forwardTo: 'http://127.0.0.1:1/', key: keys.live, url: service.urls[0] as string, after: 'now' },
      {},
    );
    const output = printed();
    const stopping = new AbortController();
    const { next } = (await live.get('/v1/events?limit=1&types=key.created')).body;
    const listening = forwardEvents({ ...options, after: next, signal: stopping.signal });
    await eventually(() => expect(output()).toMatch(/code\.created {2}qr_\w+ {2}no answer: /));
    stopping.abort();
    await listening;
    const unknown = new Scanlog({ key: 'sk_live_unknown', baseUrl: service.urls[0] as string });
    await expect(forwardEvents({ ...options, after, client: unknown })).rejects.toThrow('API key');
  });

  test.each([
    ['needs a key', ['--forward-to', '8080'], 'Give an API key of the account with --key or in SCANLOG_KEY.'],
    ['needs a URL', ['--key', 'sk_test_1', '--forward-to', 'ftp://x'], '--forward-to must be a URL such as'],
    ['needs a secret', ['--key', 'sk', '--forward-to', '1', '--secret', 'x'], '--secret must be whsec_'],
  ])('%s', async (_, args, message) => {
    const { code, output } = await command(['listen', ...args]);
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
  });
});
