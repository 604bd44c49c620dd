import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { Scanlog, verifyWebhook, type WebhookEvent } from '../../clients/typescript/src/index.ts';
import { forwardEvents, readOptions } from '../../src/cli/listen.ts';
import { newSigningSecret } from '../../src/webhooks/secrets.ts';
import { signedHeaders } from '../../src/webhooks/signature.ts';
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

  test('posts each event once, signed like a webhook, and prints the responses, also after a lost connection', async () => {
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
    const {
      after,
      client: _,
      ...options
    } = readOptions(
      { forwardTo: 'http://127.0.0.1:1/', key: keys.live, url: service.urls[0] as string, after: 'now' },
      {},
    );
    const output = printed();
    const stopping = new AbortController();
    const { next } = (await live.get('/v1/events?limit=1&types=key.created')).body;
    // The name of the code cannot be read either, which is no reason to end.
    const client = new Scanlog({
      key: keys.live,
      baseUrl: service.urls[0] as string,
      maxRetries: 0,
      fetch: (url, init) => (url.includes('/v1/qrcodes/') ? Promise.reject(new TypeError('reset')) : fetch(url, init)),
    });
    const listening = forwardEvents({ ...options, client, after: next, signal: stopping.signal });
    await eventually(() => expect(output()).toMatch(/code\.created {2}qr_\w+ {2}no response: /));
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

describe('examples/', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-examples-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const running = new Set<Bun.Subprocess>();
  afterEach(async () => {
    for (const child of running) {
      child.kill();
      await child.exited;
    }
    running.clear();
  });

  /** Starts an example, and collects what it prints. */
  function start(command: string, name: string, args: string[], environment: Record<string, string>) {
    const file = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
    const child = Bun.spawn([command, file, ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'], SCANLOG_URL: service.urls[0], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    const run = { child, output: '', errors: '' };
    const collect = async (stream: ReadableStream<Uint8Array>, key: 'output' | 'errors') => {
      const decoder = new TextDecoder();
      for await (const chunk of stream) run[key] += decoder.decode(chunk, { stream: true });
    };
    const ended = Promise.all([collect(child.stdout, 'output'), collect(child.stderr, 'errors'), child.exited]);
    return Object.assign(run, { ended: ended.then(([, , code]) => code) });
  }
  const bun = process.execPath;

  test('webhook-receiver.ts handles what is signed, each event once', async () => {
    const secret = newSigningSecret();
    const receiver = start(bun, 'webhook-receiver.ts', [], { WEBHOOK_SECRET: secret, PORT: '0' });
    const port = await eventually(() => {
      const [, found] = /port: (\d+)/.exec(receiver.output) ?? [];
      expect(found, receiver.errors).toBeDefined();
      return found;
    });
    const body = JSON.stringify({ type: 'scan.created', timestamp: new Date().toISOString(), data: { country: 'AT' } });
    const headers = signedHeaders({ id: 'whd_1', at: new Date(), body, secrets: [secret] });
    const send = async (sent: string) =>
      (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: sent })).status;
    expect([await send(body), await send(body), await send(`${body} `)]).toEqual([204, 204, 400]);
    await eventually(() => expect(receiver.errors).toContain('WebhookVerificationError'));
    expect(receiver.output.match(/scan\.created \{"country":"AT"\}/g)).toHaveLength(1);
  });

  test('feed-consumer.ts counts each scan once, also over a restart', async () => {
    const { live, keys } = await service.account();
    const { short_url } = await created(live);
    const counted = (lines: number) => expect(consumer.output.match(/^XX \d+$/gm), consumer.errors).toHaveLength(lines);
    const args = ['counts.json'];
    await fetch(short_url, { redirect: 'manual' });
    let consumer = start(bun, 'feed-consumer.ts', args, { SCANLOG_KEY: keys.live });
    await eventually(() => counted(1));
    consumer.child.kill();
    await consumer.ended;
    await fetch(short_url, { redirect: 'manual' });
    consumer = start(bun, 'feed-consumer.ts', args, { SCANLOG_KEY: keys.live });
    await eventually(() => counted(1));
    expect(JSON.parse(readFileSync(join(folder, 'counts.json'), 'utf8')).scans).toEqual({ XX: 2 });
  });

  test('bulk-create.ts creates the codes of a file once, and names lines that are wrong', async () => {
    const { live, keys } = await service.account();
    writeFileSync(join(folder, 'tables.csv'), '"Best", table,https://example.com/1\nTable 2,https://example.com/2\n');
    writeFileSync(join(folder, 'wrong.csv'), 'Table 1,https://example.com/1\nTable 2,ftp://example.com/2\n');
    const runs = ['tables.csv', 'tables.csv', 'wrong.csv'].map((file) => ({ file }));
    const outputs: string[] = [];
    for (const { file } of runs) {
      const run = start(bun, 'bulk-create.ts', [file], { SCANLOG_KEY: keys.live });
      outputs.push(`${await run.ended} ${run.output}${run.errors}`);
    }
    expect(outputs[0]).toMatch(/^0 name,short_url\n"""Best"", table",http\S+\n"Table 2",http\S+\n$/);
    expect(outputs[1]).toBe(outputs[0]);
    expect(outputs[2]).toMatch(/^1 name,short_url\ninvalid_request: [^\n]+\nline 2: destination_url must /);
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(2);
  });

  const pythons = ['python3'].filter((name) => Bun.which(name) !== null);
  test.each(pythons)('scanlog.py runs with %s, and verifies webhooks', async (python) => {
    const { keys } = await service.account();
    const run = start(python, 'scanlog.py', [], { SCANLOG_KEY: keys.live });
    expect([await run.ended, run.errors]).toEqual([0, '']);
    expect(run.output).toMatch(
      /^created http\S+\nleads to https:\/\/example.com\/summer\ncodes: Menu\ncode.created None\ncode.updated destination_url\n404 not_found\n$/,
    );
    const secret = newSigningSecret();
    const body = JSON.stringify({ type: 'scan.created', data: { city: 'Zürich' } });
    const headers = signedHeaders({ id: 'whd_1', at: new Date(), body, secrets: [newSigningSecret(), secret] });
    writeFileSync(
      join(folder, 'verify.py'),
      `import json, sys
sys.path.insert(0, sys.argv[1])
from scanlog import verify_webhook
body, headers, secret = json.loads(sys.argv[2])
print(verify_webhook(body.encode(), headers, secret)["data"]["city"])
try:
    verify_webhook(body.encode() + b" ", headers, secret)
except ValueError as error:
    print(error)
`,
    );
    const examples = fileURLToPath(new URL('../../examples', import.meta.url));
    const arguments_ = [join(folder, 'verify.py'), examples, JSON.stringify([body, headers, secret])];
    const verified = Bun.spawn([python, '-B', ...arguments_], {
      env: { PYTHONUTF8: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(await new Response(verified.stdout).text()).toBe('Zürich\nthe signature is not of this secret and body\n');
  });
});
