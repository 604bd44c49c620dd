import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { postgresChecks } from '../../src/cli/doctor/postgres.ts';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { isKeyOfDatabase } from '../../src/log/secret-key.ts';
import { availableEngines } from '../../src/stack/clickhouse/engines.ts';
import { freePort } from '../../src/stack/processes.ts';
import { type ClickHouseProcess, password, startedClickHouse } from '../stack/clickhouse-server.ts';
import { command } from '../support/command.ts';
import { uniqueName, useDatabase } from '../support/database.ts';
import { runScanlog } from '../support/scanlog.ts';
import { testSecretKey } from '../support/service.ts';

interface Report {
  status: string;
  errors: number;
  warnings: number;
  findings: { part: string; check: string; status: string; message: string }[];
}

const database = useDatabase();
const edgeFolder = mkdtempSync(join(tmpdir(), 'scanlog-doctor-'));
const emptyFolder = join(edgeFolder, 'no-data');

afterAll(() => rmSync(edgeFolder, { recursive: true, force: true }));

const environment = (): Record<string, string> => ({
  DATABASE_URL: database.url,
  NATS_URL: inject('stack').natsUrl,
  CLICKHOUSE_URL: inject('stack').clickhouseUrl,
  CLICKHOUSE_DATABASE: uniqueName(),
  NATS_STREAM: uniqueName(),
  SECRET_KEY: testSecretKey,
  EDGE_DIR: edgeFolder,
});

async function examine(changes: Record<string, string> = {}): Promise<{ code: number; report: Report }> {
  const { code, output } = await command(['doctor', '--json', '--data', emptyFolder], { ...environment(), ...changes });
  return { code, report: JSON.parse(output) };
}

/** Settings with which it examines one server, and reports that the others are not set. */
const onlyPostgres = { NATS_URL: '', CLICKHOUSE_URL: '' };
const onlyClickHouse = { DATABASE_URL: '', NATS_URL: '' };

const find = ({ findings }: Report, part: string, check: string) =>
  findings.find((finding) => finding.part === part && finding.check === check);

/** Replaces the password in a URL. */
function withPassword(address: string, password: string): string {
  const url = new URL(address);
  url.password = password;
  return url.href.replace(/\/$/, '');
}

describe('./scanlog doctor', () => {
  test('finds no error on the test stack, and warns that its Postgres loses commits in a crash', async () => {
    const { code, report } = await examine();
    expect(report.findings.filter(({ status }) => status === 'error')).toEqual([]);
    expect(code).toBe(0);
    // The Postgres of the tests runs without fsync, and the disk of the test machine may be full.
    expect(report).toMatchObject({ status: 'warning', errors: 0 });
    expect(find(report, 'postgres', 'durability')).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^fsync is off: .+; turn it on\. full_page_writes is off: .+; turn it on\.$/),
    });
    expect(report.findings.map(({ part, check }) => `${part} ${check}`)).toEqual([
      ...['edge_folder', 'disk', 'file_system', 'spool'].map((check) => `service ${check}`),
      ...['version', 'primary', 'grants', 'migrations', 'secret_key', 'durability', 'clock', 'size'].map(
        (check) => `postgres ${check}`,
      ),
      ...['version', 'jetstream', 'limits', 'stream', 'replicas'].map((check) => `nats ${check}`),
      ...['version', 'read_only', 'database', 'grants', 'durability', 'disk', 'clock'].map(
        (check) => `clickhouse ${check}`,
      ),
    ]);
    for (const finding of report.findings) expect(finding.message).toMatch(/^\S.*\.$/);
    expect(find(report, 'clickhouse', 'grants')?.message).toBe('This user has every grant that is needed.');
  });

  test('prints a line for each finding, and a summary', async () => {
    const running = runScanlog(['doctor', '--data', emptyFolder], environment());
    expect(await running.exitCode()).toBe(0);
    expect(running.output()).toMatch(/^✓ {2}postgres {4}version +Postgres \d/m);
    expect(running.output()).toMatch(/^! {2}postgres {4}durability +fsync is off/m);
    expect(running.output()).toMatch(/\n\n0 errors, \d+ warnings?: nothing must be changed\.\n$/);
  });

  test('names servers that do not accept connections, and still checks the others', async () => {
    const port = await freePort();
    const { code, report } = await examine({
      NATS_URL: `nats://me:secret@127.0.0.1:${port}`,
      CLICKHOUSE_URL: `http://me:secret@127.0.0.1:${port}`,
    });
    expect(code).toBe(1);
    expect(report).toMatchObject({ status: 'error', errors: 2 });
    expect(find(report, 'nats', 'reachable')?.message).toBe(
      `NATS at 127.0.0.1:${port} does not accept connections: start it, or correct NATS_URL.`,
    );
    expect(find(report, 'clickhouse', 'reachable')?.message).toBe(
      `ClickHouse at 127.0.0.1:${port} does not accept connections: start it, or correct CLICKHOUSE_URL.`,
    );
    expect(find(report, 'postgres', 'version')).toMatchObject({ status: 'ok' });
    const without = await examine({ DATABASE_URL: `postgres://me:secret@127.0.0.1:${port}/scanlog` });
    expect(find(without.report, 'postgres', 'reachable')?.message).toBe(
      `Postgres at 127.0.0.1:${port} does not accept connections: start it, or correct DATABASE_URL.`,
    );
    expect(JSON.stringify([report, without.report])).not.toContain('secret@');
  });

  test('reports what SCAN_RETENTION_MONTHS deletes, and warns of a run that does not end', async () => {
    const { sql } = database;
    const check = async (months?: number) => postgresChecks(sql, undefined, months)['retention']?.();
    expect(await check()).toBeUndefined();
    expect(await check(1_200)).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/None was deleted yet\.$/),
    });
    await sql`
      INSERT INTO scan_retention VALUES (true, 1, '2026-03-01T00:00Z', 9, 9, 7, false, now() - interval '25 hours')`;
    try {
      expect(await check(12)).toMatchObject({
        status: 'warning',
        message: expect.stringMatching(/^Scans from before 2026-03-01 are being deleted since .+ waits for\.$/),
      });
      await sql`UPDATE scan_retention SET done_at = now()`;
      expect(await check()).toEqual({
        status: 'ok',
        message: 'SCAN_RETENTION_MONTHS is not set here. The last run deleted 7 scans from before 2026-03-01.',
      });
    } finally {
      await sql`DELETE FROM scan_retention`;
    }
  });

  test('reports a wrong password', async () => {
    const { code, report } = await examine({
      DATABASE_URL: withPassword(database.url, 'wrong'),
      NATS_URL: withPassword(inject('stack').natsUrl, 'wrong'),
      CLICKHOUSE_URL: withPassword(inject('stack').clickhouseUrl, 'wrong'),
    });
    expect(code).toBe(1);
    expect(report.findings.filter(({ check }) => check === 'reachable').map(({ message }) => message)).toEqual([
      'Postgres rejects the user or the password in DATABASE_URL: correct them.',
      'NATS rejects the user or the password in NATS_URL: correct them.',
      'ClickHouse rejects the user or the password in CLICKHOUSE_URL: correct them.',
    ]);
  });

  test('reports a database or cluster that does not exist', async () => {
    const { code, report } = await examine({
      DATABASE_URL: database.url.replace(/[^/]+$/, 'nowhere'),
      CLICKHOUSE_CLUSTER: 'nowhere',
    });
    expect(code).toBe(1);
    expect(find(report, 'postgres', 'reachable')?.message).toBe(
      'The database that DATABASE_URL names does not exist: create it with createdb.',
    );
    expect(find(report, 'clickhouse', 'cluster')).toMatchObject({
      status: 'error',
      message: expect.stringMatching(
        /^ClickHouse has no cluster nowhere \(.+\): correct CLICKHOUSE_CLUSTER, or add it/,
      ),
    });
  });

  test('compares SECRET_KEY with the database, and does not store it', async () => {
    await examine({ ...onlyPostgres, SECRET_KEY: 'another-key-that-is-long-enough-too' });
    expect(await isKeyOfDatabase(database.sql, createSecretBox(testSecretKey)), 'the wrong key was not stored').toBe(
      true,
    );
    expect(find((await examine(onlyPostgres)).report, 'postgres', 'secret_key')).toMatchObject({ status: 'ok' });
    const { code, report } = await examine({ SECRET_KEY: 'another-key-that-is-long-enough-too' });
    expect(code).toBe(1);
    expect(find(report, 'postgres', 'secret_key')).toMatchObject({
      status: 'error',
      message:
        'SECRET_KEY is not the key of this database: correct it, or run ./scanlog secret reset if the key is lost.',
    });
    const { report: without } = await examine({ ...onlyPostgres, SECRET_KEY: '' });
    expect(find(without, 'postgres', 'secret_key')?.status).toBe('error');
  });

  test('reports a database that a newer version has migrated', async () => {
    await database.sql`INSERT INTO migrations (number, name, checksum) VALUES (9999, '9999_future.sql', 'x')`;
    try {
      expect(find((await examine(onlyPostgres)).report, 'postgres', 'migrations')).toMatchObject({
        status: 'error',
        message: expect.stringContaining('9999_future.sql'),
      });
    } finally {
      await database.sql`DELETE FROM migrations WHERE number = 9999`;
    }
    expect(await migrate(database.sql)).toEqual([]);
  });

  test('reports a role that may not create tables, and a read-only role', async () => {
    const role = uniqueName();
    const admin = connect(database.adminUrl, { max: 1 });
    await admin.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    try {
      const url = withPassword(database.url, 'secret').replace(/\/\/[^:]+:/, `//${role}:`);
      const denied = await examine({ DATABASE_URL: url });
      expect(denied.code).toBe(1);
      expect(find(denied.report, 'postgres', 'grants')).toMatchObject({
        status: 'error',
        message: 'This user may not create tables: GRANT CREATE ON SCHEMA public TO it.',
      });
      await admin.unsafe(`GRANT CREATE ON SCHEMA public TO ${role}`);
      await admin.unsafe(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
      const stranger = await examine({ ...onlyPostgres, DATABASE_URL: url });
      expect(find(stranger.report, 'postgres', 'grants')?.message).toContain('use the role that owns them');
      expect(find(stranger.report, 'postgres', 'primary')?.status).toBe('error');
    } finally {
      await admin.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await admin.end();
    }
  });

  test('reports a read-only user of ClickHouse, except for --role api', async () => {
    const CLICKHOUSE_URL = `${inject('stack').clickhouseUrl}?clickhouse_setting_readonly=2`;
    const writer = await examine({ CLICKHOUSE_URL });
    expect(writer.code).toBe(1);
    expect(find(writer.report, 'clickhouse', 'read_only')).toMatchObject({
      status: 'error',
      message: expect.stringMatching(/^This user is read-only: give it a settings profile with readonly = 0/),
    });
    const reader = await examine({ CLICKHOUSE_URL, ROLES: 'api' });
    expect(reader.code, JSON.stringify(reader.report)).toBe(0);
    expect(find(reader.report, 'clickhouse', 'read_only')).toMatchObject({ status: 'ok' });
    expect(find(reader.report, 'clickhouse', 'grants')).toMatchObject({ status: 'ok' });
  });

  test('names the missing settings if no server is configured or running', async () => {
    const { code, output } = await command(['doctor', '--data', emptyFolder]);
    expect(code).toBe(1);
    expect(output).toBe(
      `scanlog: No Scanlog is running on ${emptyFolder}: start ./scanlog up, or pass its --data, or set DATABASE_URL, NATS_URL and CLICKHOUSE_URL.\n`,
    );
    const { report } = await examine({ NATS_URL: '' });
    expect(find(report, 'nats', 'reachable')?.message).toContain('NATS_URL is not set');
  });
});

// Only the native engine reads a configuration file; the statements are the same for both.
describe.each(availableEngines().filter((engine) => engine === 'native'))('./scanlog doctor on a cluster', (engine) => {
  let server: ClickHouseProcess;

  beforeAll(async () => {
    const host = (address: string) => `<replica><host>${address}</host><port>9</port></replica>`;
    const configFile = join(edgeFolder, 'clickhouse.xml');
    writeFileSync(
      configFile,
      `<clickhouse>
        <tcp_port>9</tcp_port>
        <macros><shard>1</shard></macros>
        <remote_servers>
          <single><shard>${host('127.0.0.1')}</shard></single>
          <pair><shard>${host('127.0.0.1')}${host('127.0.0.2')}</shard></pair>
          <triple><shard>${host('127.0.0.1')}${host('127.0.0.2')}${host('127.0.0.3')}</shard></triple>
          <sharded><shard>${host('127.0.0.1')}</shard><shard>${host('127.0.0.2')}</shard></sharded>
        </remote_servers>
      </clickhouse>`,
    );
    server = await startedClickHouse(engine, join(edgeFolder, 'clickhouse'), configFile);
  });
  afterAll(() => server.stop());

  test.each([
    ['single', 'warning', 'has one replica'],
    ['pair', 'warning', 'has two replicas'],
    ['triple', 'ok', 'has 3 replicas in one shard'],
    ['sharded', 'error', 'has 2 shards: use one of a single shard'],
  ])('reports the replicas and shards of the cluster %s', async (cluster, status, message) => {
    const { report } = await examine({
      ...onlyClickHouse,
      CLICKHOUSE_URL: `http://default:${encodeURIComponent(password)}@127.0.0.1:${server.port}`,
      CLICKHOUSE_CLUSTER: cluster,
    });
    expect(find(report, 'clickhouse', 'cluster')).toMatchObject({ status, message: expect.stringContaining(message) });
    expect(find(report, 'clickhouse', 'macros')).toMatchObject({
      status: 'error',
      message: expect.stringMatching(/^The macros {shard} and {replica} are not both set on \S+: add <macros>/),
    });
    expect(find(report, 'clickhouse', 'grants')).toMatchObject({ status: 'ok' });
  });
});
