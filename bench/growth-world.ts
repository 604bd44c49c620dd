import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createAccount } from '../src/accounts/accounts.ts';
import { connectWarehouse } from '../src/analytics/connect.ts';
import { createTable, definition, tableName } from '../src/analytics/tables.ts';
import { readConfig } from '../src/config/config.ts';
import { writeSnapshot } from '../src/edge/snapshot.ts';
import type { SecretBox } from '../src/lib/secret-box.ts';
import type { Sql } from '../src/lib/sql.ts';
import { connect } from '../src/log/connect.ts';
import { migrate } from '../src/log/migrate.ts';
import { sealBatch } from '../src/maintenance/visitor-keys.ts';
import { serviceRole } from '../src/stack/service-role.ts';
import type { BenchStack } from './bench-stack.ts';

const maxInsertRows = 500_000;
const dayMs = 86_400_000;
/** The number of codes of the small account. */
export const smallAccountCodes = 1_000;
/** The edge's limit of routes in memory; its snapshot has at most as many. */
const maxSnapshotRoutes = 200_000;

export interface Size {
  name: string;
  codes: number;
  scans: number;
}

/** A service on its own database, filled to a size. All databases are in the same Postgres and ClickHouse. */
export interface SizedService extends Size {
  sql: Sql;
  url: string;
  pid: number;
  /** Owns `codes` codes and all scans. */
  largeAccount: Account;
  /** Owns `smallAccountCodes` codes, in every database. */
  smallAccount: Account;
  stop(): Promise<void>;
}

interface Account {
  id: string;
  key: string;
  /** The name of exactly one of its codes. */
  uniqueName: string;
}

export const codeId = (number: number) => `qr_${String(number).padStart(22, '0')}`;
export const shortCode = (number: number) => `c${String(number).padStart(7, '0')}`;

/** Fills the tables that redirects and reads use directly in SQL, without events, and starts a service. */
export async function startSizedService(
  stack: BenchStack,
  size: Size,
  onStep: (step: string) => void,
): Promise<SizedService> {
  const database = `growth_${size.codes}_${size.scans}`;
  const admin = connect(stack.adminDatabaseUrl, { name: 'bench', max: 1 });
  await admin.unsafe(`CREATE DATABASE ${database} OWNER ${serviceRole}`);
  await admin.end();
  const databaseUrl = stack.databaseUrl.replace(/\/[^/]*$/, `/${database}`);
  const sql = connect(databaseUrl, { name: 'bench', max: 1, responseTimeoutMs: 'none' });
  await migrate(sql);
  await sql`SET statement_timeout = 0`;
  await sql`SET maintenance_work_mem = '512MB'`;
  const by = { plan: 'enterprise' as const, now: new Date() };
  const large = await createAccount(sql, { name: 'Large', ...by });
  const small = await createAccount(sql, { name: 'Small', ...by });

  onStep(`${size.name}: ${size.codes.toLocaleString('en')} codes in Postgres`);
  await fillCodes(sql, stack.box, large.id, 1, size.codes);
  await fillCodes(sql, stack.box, small.id, size.codes + 1, smallAccountCodes);
  onStep(`${size.name}: ${size.scans.toLocaleString('en')} scans in Postgres and ClickHouse`);
  await Promise.all([fillScans(sql, large.id, size), fillWarehouse(stack, large.id, size, database)]);
  const position = size.codes + smallAccountCodes + size.scans;
  await sql`
    INSERT INTO warehouse_tables (version, definition, in_use, position, removed_to, rows)
    VALUES (1, ${definition.number}, true, ${position}, ${position}, ${size.scans})`;

  const folder = join(stack.folder, database);
  // The edge reads the snapshots of all folders below EDGE_DIR.
  const snapshotFolder = join(folder, 'earlier');
  mkdirSync(snapshotFolder, { recursive: true });
  await writeSnapshot(snapshotFolder, stack.box, {
    routes: routesOf(large.id, Math.min(size.codes / 2, maxSnapshotRoutes)),
    aliases: [],
  });
  const service = await stack.serve({
    // Without the role projections, which would find these scans missing in the log and rebuild the warehouse.
    roles: 'api,edge',
    settings: {
      DATABASE_URL: databaseUrl,
      CLICKHOUSE_DATABASE: database,
      NATS_STREAM: database,
      EDGE_DIR: folder,
    },
  });
  const account = ({ id, live }: typeof large, code: number) => ({
    id,
    key: live.secret,
    uniqueName: `Table ${String(code).padStart(7, '0')}`,
  });
  return {
    ...size,
    sql,
    url: `http://127.0.0.1:${service.port}`,
    pid: service.pid,
    largeAccount: account(large, Math.ceil(size.codes / 2)),
    smallAccount: account(small, size.codes + smallAccountCodes / 2),
    async stop() {
      await service.stop();
      await sql.end({ timeout: 1 });
    },
  };
}

/** Without visitor keys: the edge verifies the routes of a snapshot against Postgres before it uses them. */
function* routesOf(account: string, count: number) {
  for (let number = 1; number <= count; number++)
    yield {
      code: codeId(number),
      account,
      mode: 'live' as const,
      short_code: shortCode(number),
      version: 1,
      revision: 1,
      destination_url: 'https://example.com/',
      status: 'active' as const,
      disabled: false,
      sealed_key: new Uint8Array(),
    };
}

const run = async (sql: Sql, ...statements: string[]) => {
  for (const statement of statements) await sql.unsafe(statement);
};

async function fillCodes(sql: Sql, box: SecretBox, account: string, first: number, count: number): Promise<void> {
  await run(
    sql,
    `INSERT INTO codes
     SELECT 'qr_' || lpad(n::text, 22, '0'), '${account}', 'live', 'Table ' || lpad(n::text, 7, '0'),
       'https://example.com/menu?table=' || n, 1, 'c' || lpad(n::text, 7, '0'), 'active', '{}', now(), now(), 1, n
     FROM generate_series(${first}, ${first + count - 1}) AS n`,
    `INSERT INTO unsealed_visitor_keys
     SELECT id, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) FROM codes WHERE account = '${account}'`,
    `INSERT INTO scan_counts SELECT id, 1, 1 FROM codes WHERE account = '${account}'`,
    `INSERT INTO code_counts VALUES ('${account}', 'live', 'active', ${count})`,
  );
  while ((await sealBatch(sql, box)) > 0);
  await run(sql, 'VACUUM ANALYZE codes, visitor_keys, scan_counts, code_counts');
}

async function fillScans(sql: Sql, account: string, { codes, scans }: Size): Promise<void> {
  const code = `'qr_' || lpad((1 + n % ${codes})::text, 22, '0')`;
  const before = codes + smallAccountCodes;
  await run(
    sql,
    `SELECT setval('log_position', ${before + scans})`,
    `INSERT INTO scans
     SELECT ${before} + n, 'scan_' || lpad(n::text, 22, '0'), ${code}, '${account}', 'live',
       now() - interval '29 days' * (1 - n::float8 / ${scans}), 'DE', 'Land Berlin', 'Berlin', 'ios', 'safari', false,
       md5(n::text)::uuid, true, 1
     FROM generate_series(1, ${scans}) AS n`,
    'ALTER TABLE visitors DROP CONSTRAINT visitors_pkey',
    `INSERT INTO visitors SELECT hashtextextended(${code}, 0), md5(n::text)::uuid FROM generate_series(1, ${scans}) AS n`,
    // The density of a B-tree that grew by random inserts.
    'ALTER TABLE visitors ADD PRIMARY KEY (code_hash, visitor) WITH (fillfactor = 70)',
  );
  await run(sql, 'VACUUM ANALYZE visitors');
}

async function fillWarehouse(
  { clickhouseUrl }: BenchStack,
  account: string,
  { codes, scans }: Size,
  database: string,
): Promise<void> {
  const warehouse = connectWarehouse({ ...readConfig({}), clickhouseUrl, clickhouseDatabase: database });
  try {
    await createTable(warehouse, 1);
    for (let at = 0; at < scans; at += maxInsertRows)
      await warehouse.client.command({
        query: `INSERT INTO ${tableName(warehouse, 1)}
          SELECT {account:String}, 'live', concat('qr_', leftPad(toString(1 + number % {codes:UInt64}), 22, '0')),
            {start:DateTime64(3, 'UTC')} + toIntervalMillisecond(intDiv(number * {length:UInt64}, {scans:UInt64})),
            {codes:UInt64} + number + 1, concat('scan_', leftPad(toString(number), 22, '0')),
            'DE', 'Land Berlin', ['Berlin', 'Hamburg', 'Leipzig'][1 + sipHash64(number) % 3],
            ['ios', 'android', 'desktop'][1 + sipHash64(number) % 3], 'chrome', 0,
            reinterpretAsUUID(sipHash128(number)), 1, 1, '', ''
          FROM numbers({at:UInt64}, {rows:UInt64})`,
        query_params: {
          account,
          codes,
          scans,
          at,
          rows: Math.min(maxInsertRows, scans - at),
          start: new Date(Date.now() - 29 * dayMs),
          length: 29 * dayMs,
        },
        // Without a token, ClickHouse would drop a block whose content equals an earlier one.
        clickhouse_settings: { insert_deduplicate: 0 },
      });
  } finally {
    await warehouse.client.close();
  }
}
