import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest';
import { readMark } from '../../src/lib/process-mark.ts';
import { connect } from '../../src/log/connect.ts';
import { freePort, isAlive } from '../../src/stack/processes.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf, isLoopback, listenersOf, processTreeOf } from '../support/listeners.ts';
import { type Running, runScanlog } from '../support/scanlog.ts';

const folders: string[] = [];
const started: Running[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-up-'));
  folders.push(folder);
  return folder;
}

/** `up` with its own Postgres and NATS, but the ClickHouse of the tests, because starting one takes longest. */
function up(folder: string, ...args: string[]): Running {
  const running = runScanlog(['up', '--data', folder, ...args], {
    CLICKHOUSE_URL: inject('stack').clickhouseUrl,
    CLICKHOUSE_DATABASE: basename(folder).replaceAll('-', '_'),
  });
  started.push(running);
  return running;
}

const pidOf = (folder: string, part: string) => readMark(join(folder, 'run', `${part}.pid`));

// After each test: a service and its servers use 3 % of a core even without requests.
afterEach(async () => {
  await Promise.all(started.splice(0).map((running) => running.stop()));
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('./scanlog up', () => {
  test('starts, prints a command that creates a code, stops, and keeps its data', async () => {
    const folder = newFolder();
    const port = await freePort();
    const first = up(folder, '--port', String(port));
    await first.prints('Ctrl-C stops everything');
    const file = join(folder, 'demo-keys.env');
    expect(first.output(), 'without a terminal, keys go to a file').toContain(file);
    expect(first.output()).not.toMatch(/sk_(live|test)_\w/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [, key] = /^LIVE_KEY=(sk_live_\w+)\nTEST_KEY=sk_test_\w+\n$/.exec(readFileSync(file, 'utf8')) ?? [];

    const ready = await fetch(`http://localhost:${port}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({
      status: 'ready',
      parts: { postgres: { status: 'ok' }, nats: { status: 'ok' }, clickhouse: { status: 'ok' } },
    });
    const line =
      first
        .output()
        .split('\n')
        .find((text) => text.trim().startsWith('curl ')) ?? '';
    const pasted = Bun.spawn(['sh', '-c', line], { stdout: 'pipe' });
    expect(JSON.parse(await new Response(pasted.stdout).text())).toMatchObject({
      name: 'My first code',
      status: 'active',
    });

    const second = up(folder, '--port', '0');
    expect(await second.exitCode()).toBe(1);
    expect(second.output()).toContain(`Scanlog already runs on ${folder}`);

    const listed = runScanlog(['account', 'list', '--data', folder]);
    expect(await listed.exitCode()).toBe(0);
    expect(listed.output()).toContain('Demo');

    const { databaseUrl } = JSON.parse(readFileSync(join(folder, 'run/stack.json'), 'utf8'));
    const { postgres: adminPassword } = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'));
    const sql = connect(databaseUrl, { max: 1 });
    const sessions = await sql`
      SELECT DISTINCT rolsuper FROM pg_stat_activity JOIN pg_roles ON rolname = usename
      WHERE application_name LIKE 'scanlog%'`;
    await sql.end();
    expect([...sessions], 'no session of the service or of a command is a superuser').toEqual([{ rolsuper: false }]);
    for (const pid of processTreeOf(first.pid)) expect(environmentOf(pid).join()).not.toContain(adminPassword);

    const examined = runScanlog(['doctor', '--json', '--data', folder]);
    expect(await examined.exitCode(), examined.output()).toBe(0);
    expect(JSON.parse(examined.output()).findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ part: 'postgres', check: 'durability', status: 'ok' }),
        expect.objectContaining({ check: 'secret_key', message: 'SECRET_KEY is the key of this database.' }),
        expect.objectContaining({ check: 'stream', message: expect.stringContaining('in files') }),
      ]),
    );

    first.signal('SIGTERM');
    expect(await first.exitCode()).toBe(0);
    expect(pidOf(folder, 'postgres'), 'Postgres has stopped').toBeUndefined();
    expect(pidOf(folder, 'nats'), 'NATS has stopped').toBeUndefined();

    const again = up(folder, '--port', String(port));
    await again.prints('Ctrl-C stops everything');
    expect(again.output(), 'keys are created at the first start only').not.toMatch(/sk_(live|test)_\w/);
    const [, command = ''] =
      /^ {2}\.\/scanlog (account key acct_\w+ --mode live --data \S+)$/m.exec(again.output()) ?? [];
    const created = runScanlog(command.split(' '));
    expect(await created.exitCode(), 'the printed command creates a key').toBe(0);
    expect(created.output()).toMatch(/sk_live_\w/);
    const codes = await fetch(`http://localhost:${port}/v1/qrcodes`, { headers: { authorization: `Bearer ${key}` } });
    expect(await codes.json(), 'the code still exists').toMatchObject({ pagination: { total: 1 } });
  });

  test('with --host 0.0.0.0, opens only the port of the service to the network', async () => {
    const folder = newFolder();
    const port = await freePort();
    const running = up(folder, '--port', String(port), '--host', '0.0.0.0');
    await running.prints('Ctrl-C stops everything');
    expect(running.output()).toContain('API keys travel unencrypted');
    const processes = await eventually(() => {
      const pids = processTreeOf(running.pid);
      const background = pids.filter((pid) => environmentOf(pid).includes('ROLES=relay,projections'));
      expect(background).toHaveLength(1);
      expect(listenersOf(background[0] as number).length, 'its listeners are open').toBeGreaterThan(0);
      return pids;
    });
    const open = processes.flatMap(listenersOf).filter(({ address }) => !isLoopback(address));
    expect(open.map((one) => one.port)).toEqual([port]);
  });

  test('restarts servers that are killed, and recovers after it was killed itself', async () => {
    const folder = newFolder();
    const port = await freePort();
    const running = up(folder, '--port', String(port));
    await running.prints('Ctrl-C stops everything');
    const isReady = async () => expect((await fetch(`http://localhost:${port}/readyz`)).status).toBe(200);

    for (const part of ['postgres', 'nats']) {
      const before = pidOf(folder, part);
      process.kill(before?.pid ?? 0, 'SIGKILL');
      await eventually(() => expect(pidOf(folder, part)?.pid, `${part} has another process`).not.toBe(before?.pid));
      await eventually(isReady);
    }

    const orphan = pidOf(folder, 'postgres');
    running.signal('SIGKILL');
    await running.exitCode();
    expect(orphan && isAlive(orphan), 'Postgres still runs').toBe(true);
    const next = up(folder, '--port', String(port));
    await next.prints('Ctrl-C stops everything');
    expect(orphan && isAlive(orphan), 'the old Postgres was stopped').toBe(false);
    await isReady();
  });

  test('runs twice on two data folders, and refuses a --port that is in use', async () => {
    const blocker = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('mine') });
    const one = up(newFolder(), '--port', '0');
    const two = up(newFolder(), '--port', '0');
    await Promise.all([one, two].map((running) => running.prints('Ctrl-C stops everything')));
    const ports = [one, two].map((running) => /localhost:(\d+)\/v1/.exec(running.output())?.[1]);
    expect(new Set(ports).size).toBe(2);
    for (const port of ports) expect((await fetch(`http://localhost:${port}/healthz`)).status).toBe(200);

    const refused = up(newFolder(), '--port', String(blocker.port));
    expect(await refused.exitCode()).toBe(1);
    expect(refused.output()).toContain(`Port ${blocker.port} on 127.0.0.1 cannot be listened on`);
    blocker.stop(true);
  });

  test('does not start with invalid settings, and prints one sentence for each', async () => {
    const running = runScanlog(['up', '--port', 'http', '--data', newFolder()], {
      TRUSTED_PROXIES: 'nobody',
      LOG_LEVEL: 'x',
    });
    expect(await running.exitCode()).toBe(1);
    expect(running.output()).toContain('scanlog: --port must be an integer from 0 to 65535.');
    expect(running.output()).toContain('scanlog: TRUSTED_PROXIES must be');
    expect(running.output()).toContain('scanlog: LOG_LEVEL must be one of');
  });
});

describe('./scanlog serve', () => {
  test('names the settings that are missing', async () => {
    const running = runScanlog(['serve']);
    expect(await running.exitCode()).toBe(1);
    for (const name of ['DATABASE_URL', 'NATS_URL', 'CLICKHOUSE_URL', 'SECRET_KEY'])
      expect(running.output()).toContain(`${name} must be set`);
  });
});

describe('./scanlog', () => {
  test('--help lists the commands', async () => {
    const running = runScanlog(['--help']);
    expect(await running.exitCode()).toBe(0);
    for (const command of ['up', 'serve', 'account', 'events', 'replay', 'test'])
      expect(running.output()).toContain(command);
  });

  test('the lock file contains no registry address', () => {
    const lock = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');
    expect(lock).not.toContain('"resolved"');
  });
});
