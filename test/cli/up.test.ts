import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type ProcessMark, readMark } from '../../src/lib/process-mark.ts';
import { connect } from '../../src/log/connect.ts';
import { isAlive } from '../../src/stack/processes.ts';
import { command } from '../support/command.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf, isLoopback, listenersOf, processTreeOf } from '../support/listeners.ts';
import { type Running, runScanlog } from '../support/scanlog.ts';

const parent = mkdtempSync(join(tmpdir(), 'scanlog-up-'));

/** `up` with its own Postgres and NATS, but the ClickHouse of the tests, because starting one takes longest. */
function up(folder: string, ...args: string[]): Running {
  return runScanlog(['up', '--data', folder, '--port', '0', ...args], {
    CLICKHOUSE_URL: inject('stack').clickhouseUrl,
    CLICKHOUSE_DATABASE: `${basename(parent)}_${basename(folder)}`.replaceAll('-', '_'),
  });
}

const untilReady = (running: Running) => running.prints('Ctrl-C stops everything');

function urlOf(running: Running): string {
  const [, url] = /API +(http\S+)\/v1/.exec(running.output()) ?? [];
  if (url === undefined) throw new Error(`no address in: ${running.output()}`);
  return url;
}

function markOf(folder: string, part: string): ProcessMark {
  const mark = readMark(join(folder, 'run', `${part}.pid`));
  if (mark === undefined) throw new Error(`${part} does not run on ${folder}`);
  return mark;
}

function liveKeyOf(folder: string): string {
  const text = readFileSync(join(folder, 'demo-keys.env'), 'utf8');
  const [, key] = /^LIVE_KEY=(sk_live_\w+)\nTEST_KEY=sk_test_\w+\n$/.exec(text) ?? [];
  if (key === undefined) throw new Error('no keys in demo-keys.env');
  return key;
}

async function api(running: Running, folder: string, path: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${liveKeyOf(folder)}`, 'content-type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  return fetch(`${urlOf(running)}/v1${path}`, { ...init, headers });
}

async function createdCode(running: Running, folder: string): Promise<string> {
  const response = await api(running, folder, '/qrcodes', { name: 'Kept', destination_url: 'https://example.com' });
  expect(response.status).toBe(201);
  const { id }: { id: string } = JSON.parse(await response.text());
  return id;
}

const untilReadyz = (running: Running) =>
  eventually(async () => {
    const response = await fetch(`${urlOf(running)}/readyz`);
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return JSON.parse(text);
  });

describe('./scanlog up', () => {
  const [first, second] = [join(parent, 'first'), join(parent, 'second')];
  /** Runs from its first start to the end of the tests. */
  let one: Running;
  /** Restarted by tests, each of which leaves it running. */
  let two: Running;

  beforeAll(async () => {
    one = up(first);
    two = up(second);
    await Promise.all([one, two].map(untilReady));
  });
  afterAll(async () => {
    await Promise.all([one, two].map((running) => running.stop()));
    rmSync(parent, { recursive: true, force: true });
  });

  test('prints a command that creates a code', async () => {
    const file = join(first, 'demo-keys.env');
    expect(one.output(), 'without a terminal, keys go to a file').toContain(file);
    expect(one.output()).not.toMatch(/sk_(live|test)_\w/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const linkFile = join(first, 'setup-link.txt');
    expect(one.output(), 'and so does the link of the first user').toContain(linkFile);
    expect(one.output()).not.toContain('/console/setup#');
    expect(statSync(linkFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(linkFile, 'utf8')).toMatch(/^http:\/\/localhost:\d+\/console\/setup#\w{43}\n$/);
    expect(await untilReadyz(one)).toMatchObject({
      status: 'ready',
      parts: { postgres: { status: 'ok' }, nats: { status: 'ok' }, clickhouse: { status: 'ok' } },
    });
    const lines = one.output().split('\n');
    const line = lines.find((text) => text.trim().startsWith('curl ')) ?? '';
    const pasted = Bun.spawn(['sh', '-c', line], { stdout: 'pipe' });
    expect(JSON.parse(await new Response(pasted.stdout).text())).toMatchObject({
      name: 'My first code',
      status: 'active',
    });
  });

  test('is found by other commands; neither they nor the service connect as a superuser', async () => {
    const { databaseUrl } = JSON.parse(readFileSync(join(first, 'run/stack.json'), 'utf8'));
    const { postgres: adminPassword } = JSON.parse(readFileSync(join(first, 'secrets.json'), 'utf8'));
    const listed = await command(['account', 'list', '--data', first]);
    expect(listed).toMatchObject({ code: 0, output: expect.stringContaining('Demo') });
    const sql = connect(databaseUrl, { max: 1 });
    const sessions = await sql`
      SELECT DISTINCT rolsuper FROM pg_stat_activity JOIN pg_roles ON rolname = usename
      WHERE application_name LIKE 'scanlog%'`;
    await sql.end();
    expect([...sessions]).toEqual([{ rolsuper: false }]);
    for (const pid of processTreeOf(one.pid)) expect(environmentOf(pid).join()).not.toContain(adminPassword);
  });

  test('passes ./scanlog doctor', async () => {
    const { code, output } = await command(['doctor', '--json', '--data', first]);
    expect(code, output).toBe(0);
    expect(JSON.parse(output).findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ part: 'postgres', check: 'durability', status: 'ok' }),
        expect.objectContaining({ check: 'secret_key', message: 'SECRET_KEY is the key of this database.' }),
        expect.objectContaining({ check: 'stream', message: expect.stringContaining('in files') }),
      ]),
    );
  });

  test('runs twice on two data folders, and not twice on one', async () => {
    expect(urlOf(one)).not.toBe(urlOf(two));
    for (const running of [one, two]) expect((await fetch(`${urlOf(running)}/healthz`)).status).toBe(200);
    const again = up(first);
    expect(await again.exitCode()).toBe(1);
    expect(again.output()).toContain(`Scanlog already runs on ${first}`);
  });

  test('restarts servers that are killed', async () => {
    for (const part of ['postgres', 'nats']) {
      const { pid } = markOf(second, part);
      process.kill(pid, 'SIGKILL');
      await eventually(() => expect(markOf(second, part).pid, `${part} has another process`).not.toBe(pid));
      await untilReadyz(two);
    }
  });

  test('recovers after it was killed', async () => {
    const code = await createdCode(two, second);
    const orphan = markOf(second, 'postgres');
    two.signal('SIGKILL');
    await two.exitCode();
    expect(isAlive(orphan), 'Postgres still runs').toBe(true);
    two = up(second);
    await untilReady(two);
    expect(isAlive(orphan), 'the old Postgres was stopped').toBe(false);
    await untilReadyz(two);
    expect((await api(two, second, `/qrcodes/${code}`)).status, 'the code still exists').toBe(200);
  });

  test('stops with its servers, keeps its data, and with --host 0.0.0.0 opens only its port to the network', async () => {
    const code = await createdCode(two, second);
    const servers = ['postgres', 'nats'].map((part) => markOf(second, part));
    two.signal('SIGTERM');
    expect(await two.exitCode()).toBe(0);
    expect(servers.map(isAlive)).toEqual([false, false]);

    two = up(second, '--host', '0.0.0.0');
    await untilReady(two);
    expect((await api(two, second, `/qrcodes/${code}`)).status, 'the code still exists').toBe(200);
    expect(two.output(), 'there is no user yet').toContain(join(second, 'setup-link.txt'));
    expect(two.output(), 'keys are created at the first start only').not.toMatch(/sk_(live|test)_\w/);
    const [, printed = ''] =
      /^ {2}\.\/scanlog (account key acct_\w+ --mode live --data \S+)$/m.exec(two.output()) ?? [];
    const created = await command(printed.split(' '));
    expect(created, 'the printed command creates a key').toMatchObject({ code: 0 });
    expect(created.output).toMatch(/sk_live_\w/);

    expect(two.output()).toContain('API keys travel unencrypted');
    const processes = await eventually(() => {
      const pids = processTreeOf(two.pid);
      const background = pids.filter((pid) => environmentOf(pid).includes('ROLES=relay,projections'));
      expect(background).toHaveLength(1);
      expect(listenersOf(background[0] as number).length, 'its listeners are open').toBeGreaterThan(0);
      return pids;
    });
    const open = processes.flatMap(listenersOf).filter(({ address }) => !isLoopback(address));
    expect(open.map((listener) => String(listener.port))).toEqual([new URL(urlOf(two)).port]);
  });
});

describe('./scanlog up does not start', () => {
  const database = useDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-up-refused-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('on a --port that is in use', async () => {
    const blocker = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('mine') });
    const { natsUrl, clickhouseUrl } = inject('stack');
    const refused = runScanlog(['up', '--data', folder, '--port', String(blocker.port)], {
      DATABASE_URL: database.url,
      NATS_URL: natsUrl,
      CLICKHOUSE_URL: clickhouseUrl,
    });
    expect(await refused.exitCode()).toBe(1);
    expect(refused.output()).toContain(`Port ${blocker.port} on 127.0.0.1 cannot be listened on`);
    blocker.stop(true);
  });

  test('with invalid settings, and prints one sentence for each', async () => {
    const { code, output } = await command(['up', '--port', 'http', '--data', folder], {
      TRUSTED_PROXIES: 'nobody',
      LOG_LEVEL: 'x',
    });
    expect(code).toBe(1);
    expect(output).toContain('scanlog: --port must be an integer from 0 to 65535.');
    expect(output).toContain('scanlog: TRUSTED_PROXIES must be');
    expect(output).toContain('scanlog: LOG_LEVEL must be one of');
  });
});

test('./scanlog serve names the settings that are missing', async () => {
  const { code, output } = await command(['serve']);
  expect(code).toBe(1);
  for (const name of ['DATABASE_URL', 'NATS_URL', 'CLICKHOUSE_URL', 'SECRET_KEY'])
    expect(output).toContain(`${name} must be set`);
});

test('./scanlog --help lists the commands', async () => {
  const running = runScanlog(['--help']);
  expect(await running.exitCode()).toBe(0);
  for (const name of ['up', 'serve', 'account', 'events', 'replay', 'test']) expect(running.output()).toContain(name);
});

test('the lock file contains no registry address', () => {
  const lock = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');
  expect(lock).not.toContain('"resolved"');
});
