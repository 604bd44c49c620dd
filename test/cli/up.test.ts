import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { readMark } from '../../src/lib/process-mark.ts';
import { connect } from '../../src/log/connect.ts';
import { freePort, isAlive } from '../../src/stack/processes.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf, familyOf, isLoopback, listenersOf } from '../support/listeners.ts';
import { type Running, runScanlog } from '../support/scanlog.ts';

const folders: string[] = [];
const started: Running[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-up-'));
  folders.push(folder);
  return folder;
}

/** `up` with its own Postgres and NATS; ClickHouse is the tests' own, which is the slowest to start. */
function up(folder: string, ...args: string[]): Running {
  const running = runScanlog(['up', '--data', folder, ...args], {
    CLICKHOUSE_URL: inject('stack').clickhouseUrl,
    CLICKHOUSE_DATABASE: basename(folder).replaceAll('-', '_'),
  });
  started.push(running);
  return running;
}

const pidOf = (folder: string, part: string) => readMark(join(folder, 'run', `${part}.pid`));

afterAll(async () => {
  for (const running of started) await running.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('./scanlog up', () => {
  test('a newcomer starts it, pastes the line it prints, and stops it', async () => {
    const folder = newFolder();
    const port = await freePort();
    const first = up(folder, '--port', String(port));
    await first.prints('Ctrl-C stops everything');
    const file = join(folder, 'demo-keys.env');
    expect(first.output(), 'no terminal: keys go to a file, and it says which').toContain(file);
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
    for (const pid of familyOf(first.pid)) expect(environmentOf(pid).join()).not.toContain(adminPassword);

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
    expect(pidOf(folder, 'postgres'), 'Postgres is gone').toBeUndefined();
    expect(pidOf(folder, 'nats'), 'NATS is gone').toBeUndefined();

    const again = up(folder, '--port', String(port));
    await again.prints('Ctrl-C stops everything');
    expect(again.output(), 'keys are given at the first start only').not.toMatch(/sk_(live|test)_\w/);
    const codes = await fetch(`http://localhost:${port}/v1/qrcodes`, { headers: { authorization: `Bearer ${key}` } });
    expect(await codes.json(), 'what was there is still there').toMatchObject({ pagination: { total: 1 } });
  }, 60_000);

  test('open to the network, only the service itself is: no port of the background process, no metrics', async () => {
    const folder = newFolder();
    const port = await freePort();
    const running = up(folder, '--port', String(port), '--host', '0.0.0.0');
    await running.prints('Ctrl-C stops everything');
    expect(running.output()).toContain('API keys travel unencrypted');
    const family = await eventually(() => {
      const pids = familyOf(running.pid);
      const background = pids.filter((pid) => environmentOf(pid).includes('ROLES=relay,projections'));
      expect(background).toHaveLength(1);
      expect(listenersOf(background[0] as number).length, 'its listeners are open').toBeGreaterThan(0);
      return pids;
    });
    const open = family.flatMap(listenersOf).filter(({ address }) => !isLoopback(address));
    expect(open.map((one) => one.port)).toEqual([port]);
  });

  test('parts that die come back, and an unclean end is recovered from', async () => {
    const folder = newFolder();
    const port = await freePort();
    const running = up(folder, '--port', String(port));
    await running.prints('Ctrl-C stops everything');
    const isReady = async () => expect((await fetch(`http://localhost:${port}/readyz`)).status).toBe(200);

    for (const part of ['postgres', 'nats']) {
      const before = pidOf(folder, part);
      process.kill(before?.pid ?? 0, 'SIGKILL');
      await eventually(
        () => expect(pidOf(folder, part)?.pid, `${part} has another process`).not.toBe(before?.pid),
        20_000,
      );
      await eventually(isReady, 20_000);
    }

    const orphan = pidOf(folder, 'postgres');
    running.signal('SIGKILL');
    await running.exitCode();
    expect(orphan && isAlive(orphan), 'Postgres was left behind').toBe(true);
    const next = up(folder, '--port', String(port));
    await next.prints('Ctrl-C stops everything');
    expect(orphan && isAlive(orphan), 'the one left behind was ended').toBe(false);
    await isReady();
  });

  test('two run side by side in two folders, and a taken port is no obstacle', async () => {
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

  test('wrong settings stop the start, with a sentence each', async () => {
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
  test('says which addresses it lacks', async () => {
    const running = runScanlog(['serve']);
    expect(await running.exitCode()).toBe(1);
    for (const name of ['DATABASE_URL', 'NATS_URL', 'CLICKHOUSE_URL', 'SECRET_KEY'])
      expect(running.output()).toContain(`${name} must be set`);
  });
});

describe('./scanlog', () => {
  test('helps', async () => {
    const running = runScanlog(['--help']);
    expect(await running.exitCode()).toBe(0);
    for (const command of ['up', 'serve', 'account', 'events', 'replay', 'test'])
      expect(running.output()).toContain(command);
  });

  test('keeps every address of a machine out of the lock file', () => {
    const lock = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');
    expect(lock).not.toContain('"resolved"');
  });
});
