import { join } from 'node:path';
import type { NatsConnection } from 'nats';
import { connectWarehouse } from '../analytics/connect.ts';
import type { Config } from '../config/config.ts';
import { settings } from '../config/settings.ts';
import { commandConnection } from '../lib/connection-names.ts';
import type { Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { streamOfLog } from '../log/branch.ts';
import { connect } from '../log/connect.ts';
import { findRunning, readSecrets } from '../stack/data-directory.ts';
import { connectOnce } from '../stream/connect.ts';
import { findConfig, notFound } from './connection.ts';
import { clickhouseChecks } from './doctor/clickhouse.ts';
import { domainChecks } from './doctor/domains.ts';
import { type Finding, runChecks } from './doctor/finding.ts';
import { mailChecks } from './doctor/mail.ts';
import { natsChecks } from './doctor/nats.ts';
import { postgresChecks } from './doctor/postgres.ts';
import { reasonOf } from './doctor/reasons.ts';
import { serviceChecks } from './doctor/service.ts';
import { findEdgeFolder } from './spool.ts';
import { bold, counted, green, print, table } from './terminal.ts';

/** Checks the servers and this machine, and prints what to change; the exit code is 1 if something must be changed. */
export async function doctor(options: { data: string; json?: boolean }): Promise<void> {
  const findings = await examine(options.data);
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const [errors, warnings] = [count('error'), count('warning')];
  if (errors > 0) process.exitCode = 1;
  if (options.json) {
    print(
      JSON.stringify({ status: errors > 0 ? 'error' : warnings > 0 ? 'warning' : 'ok', errors, warnings, findings }),
    );
    return;
  }
  const signs = { ok: green('✓'), warning: bold('!'), error: bold('✗') };
  print(table(findings.map(({ part, check, status, message }) => [signs[status], part, check, message])));
  print(`\n${summary(errors, warnings)}`);
}

function summary(errors: number, warnings: number): string {
  if (errors + warnings === 0) return 'No errors, no warnings.';
  const advice = errors === 0 ? 'nothing must be changed' : 'fix what is marked with ✗ before you start the service';
  return `${counted(errors, 'error')}, ${counted(warnings, 'warning')}: ${advice}.`;
}

async function examine(data: string): Promise<Finding[]> {
  const config = findConfig(data);
  const { databaseUrl, natsUrl, clickhouseUrl } = config;
  if (databaseUrl === undefined && natsUrl === undefined && clickhouseUrl === undefined)
    throw notFound(data, 'DATABASE_URL, NATS_URL and CLICKHOUSE_URL');
  const secretKey = config.secretKey ?? embeddedSecretKey(data);
  const postgres = await examinePostgres(databaseUrl, secretKey, config.scanRetentionMonths);
  return [
    ...(await runChecks('service', serviceChecks({ ...config, edgeFolder: findEdgeFolder(data) }), String)),
    ...(await runChecks('service', domainChecks(config, secretKey), String)),
    ...(await runChecks('service', mailChecks(config), String)),
    ...postgres.findings,
    ...(await examineNats(natsUrl, postgres.stream(config.stream))),
    ...(await examineClickHouse(config, clickhouseUrl)),
  ];
}

/** The key that a running `up` has generated. */
function embeddedSecretKey(data: string): string | undefined {
  if (findRunning(data) === undefined) return undefined;
  return readSecrets({ path: data, run: join(data, 'run'), logs: join(data, 'logs') }).secretKey;
}

const notSet = (part: Finding['part'], key: 'databaseUrl' | 'natsUrl' | 'clickhouseUrl'): Finding[] => [
  {
    part,
    check: 'reachable',
    status: 'error',
    message: `${settings[key].variable} is not set: set it, or pass the --data of a running ./scanlog up.`,
  },
];

interface Server {
  part: Finding['part'];
  name: string;
  url: string;
  variable: string;
}

/** Connects to a server and, if that succeeds, runs its checks. */
async function examineServer(
  server: Server,
  reach: () => Promise<unknown>,
  use: (reason: (thrown: unknown) => string) => Promise<Finding[]>,
): Promise<Finding[]> {
  const reason = (thrown: unknown) => reasonOf(server, thrown);
  try {
    await withTimeout(reach(), timeouts.doctorMs, () => {
      throw new Error('timeout');
    });
  } catch (thrown) {
    return [{ part: server.part, check: 'reachable', status: 'error', message: reason(thrown) }];
  }
  return use(reason);
}

interface PostgresExamination {
  findings: Finding[];
  /** The name of this log's stream: a restored log adds a suffix to the configured name. */
  stream(configured: string): string;
}

async function examinePostgres(
  url: string | undefined,
  secretKey: string | undefined,
  retentionMonths: number | undefined,
): Promise<PostgresExamination> {
  if (url === undefined) return { findings: notSet('postgres', 'databaseUrl'), stream: (name) => name };
  const sql = connect(url, { max: 1, name: commandConnection });
  const server = { part: 'postgres', name: 'Postgres', url, variable: 'DATABASE_URL' } as const;
  let branch = '';
  try {
    const findings = await examineServer(
      server,
      () => sql`SELECT 1`,
      async (reason) => {
        branch = await findBranch(sql);
        return runChecks('postgres', postgresChecks(sql, secretKey, retentionMonths), reason);
      },
    );
    return { findings, stream: (name) => `${name}${branch}` };
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/** The suffix that a restored log adds to the name of its stream; empty for a database that is not migrated yet. */
const findBranch = (sql: Sql) => streamOfLog(sql, '').catch(() => '');

async function examineNats(url: string | undefined, stream: string): Promise<Finding[]> {
  if (url === undefined) return notSet('nats', 'natsUrl');
  let nats: NatsConnection | undefined;
  const reach = async () => {
    nats = await connectOnce(url, 'scanlog-cli');
  };
  const use = async (reason: (thrown: unknown) => string) =>
    nats === undefined ? [] : runChecks('nats', natsChecks(nats, stream), reason);
  try {
    return await examineServer({ part: 'nats', name: 'NATS', url, variable: 'NATS_URL' }, reach, use);
  } finally {
    await nats?.close();
  }
}

async function examineClickHouse(config: Config, url: string | undefined): Promise<Finding[]> {
  if (url === undefined) return notSet('clickhouse', 'clickhouseUrl');
  const warehouse = connectWarehouse({ ...config, clickhouseUrl: url });
  const server = { part: 'clickhouse', name: 'ClickHouse', url, variable: 'CLICKHOUSE_URL' } as const;
  try {
    return await examineServer(
      server,
      // Not /ping, which needs no credentials.
      async () => (await warehouse.client.query({ query: 'SELECT 1' })).text(),
      (reason) =>
        runChecks('clickhouse', clickhouseChecks(warehouse, { writes: config.roles.includes('projections') }), reason),
    );
  } finally {
    await warehouse.client.close();
  }
}
