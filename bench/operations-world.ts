import type { Mode } from '../events/plans.ts';
import { counters } from '../projections/counters.ts';
import { createAccount } from '../src/accounts/accounts.ts';
import { connectWarehouse } from '../src/analytics/connect.ts';
import { createTable, definition, tableName } from '../src/analytics/tables.ts';
import { createCodes } from '../src/codes/create.ts';
import { readConfig } from '../src/config/config.ts';
import type { Sql } from '../src/lib/sql.ts';
import { indexNextBlock } from '../src/log/account-index.ts';
import { connect } from '../src/log/connect.ts';
import { makePartitionsUpTo } from '../src/log/partitions.ts';
import { headOfLog } from '../src/log/read.ts';
import type { BenchStack } from './bench-stack.ts';

const accountCount = 20;
const codesPerAccount = 50;
/** Events of the account that the feed and a webhook replay read, in a log of any size. */
export const eventsOfReader = 20_000;
/** Scans of the last 10 minutes, in a log of any size. */
const recentScans = 1_000;
const recentMs = 10 * 60_000;
const hourMs = 3_600_000;
/** 14 months. */
export const periodMs = 425 * 24 * hourMs;
const maxInsertRows = 1_000_000;

export interface BenchAccount {
  id: string;
  key: string;
}

/** A log with scans of 14 months, and everything that is derived from it, on a stack of its own. */
export interface World {
  stack: BenchStack;
  scans: number;
  /** Accounts that share all scans but the scans of `reader`. */
  accounts: BenchAccount[];
  /** Has `eventsOfReader` scans, all over the log. */
  reader: BenchAccount;
  start: Date;
  end: Date;
}

/** What a scan is, by its number: the same in the SQL of Postgres and of ClickHouse. */
interface Plan {
  scans: number;
  /** The position of scan 0. */
  before: number;
  accounts: string[];
  codes: string[];
  startMs: number;
  endMs: number;
}

type OnStep = (step: string) => void;

/** The version that the first row of `warehouse_tables` gets. */
const tableVersion = 1;

/** Fills a new stack with this many scans directly in SQL; a service that starts on it finds nothing to do. */
export async function fillWorld(stack: BenchStack, scans: number, onStep: OnStep): Promise<World> {
  const { sql } = stack;
  const end = new Date();
  const start = new Date(end.getTime() - periodMs);
  const all: BenchAccount[] = [];
  const codes: string[] = [];
  for (let number = 1; number <= accountCount; number++) {
    const { id, live } = await createAccount(sql, { name: `Account ${number}`, plan: 'enterprise', now: start });
    all.push({ id, key: live.secret });
    codes.push(...(await createCodesOf(stack, id, start)));
  }
  const plan = {
    scans,
    before: await headOfLog(sql),
    accounts: all.map(({ id }) => id),
    codes,
    startMs: start.getTime(),
    endMs: end.getTime(),
  };
  onStep(`${scans.toLocaleString('en')} scans in Postgres and ClickHouse`);
  await Promise.all([fillLog(sql, plan), fillWarehouse(stack, plan)]);
  onStep(`what is derived from ${scans.toLocaleString('en')} scans`);
  await fillDerived(sql, plan);
  await writeToDisk(stack);
  const reader = all.pop() as BenchAccount;
  return { stack, scans, accounts: all, reader, start, end };
}

async function createCodesOf({ sql, box }: BenchStack, account: string, now: Date): Promise<string[]> {
  const requests = Array.from({ length: codesPerAccount }, (_, n) => ({
    name: `Table ${n + 1}`,
    destination_url: `https://example.com/menu?table=${n + 1}`,
  }));
  const owner = { account, mode: 'live' as Mode };
  const created = await sql.begin((tx) => createCodes(tx, box, owner, requests, { actor: 'operator', now }));
  return created.map(({ code }) => code.id);
}

/** SQL of the index of scan `n`'s code, for both databases; `div` is their division of integers. */
function codeIndex({ scans }: Plan, n: string, div: (a: string, b: number) => string): string {
  const others = accountCount - 1;
  const every = Math.floor(scans / eventsOfReader);
  return `CASE WHEN ${n} % ${every} = 0 AND ${n} <= ${every * eventsOfReader}
    THEN ${others * codesPerAccount} + ${div(n, every)} % ${codesPerAccount}
    ELSE ${n} % ${others} * ${codesPerAccount} + ${div(n, others)} % ${codesPerAccount} END`;
}

/** SQL of the time of scan `n`, in ms. */
const timeMs = ({ scans, startMs, endMs }: Plan, n: string, div: (a: string, b: number) => string): string =>
  `CASE WHEN ${n} > ${scans - recentScans}
    THEN ${endMs} - ${div(`(${scans} - ${n}) * ${recentMs}`, recentScans)}
    ELSE ${startMs} + ${div(`${n} * ${periodMs - hourMs}`, scans)} END`;

async function fillLog(sql: Sql, plan: Plan): Promise<void> {
  const { scans, before, accounts, codes } = plan;
  const divide = (a: string, b: number) => `${a} / ${b}`;
  await sql.begin((tx) => makePartitionsUpTo(tx, before + scans));
  await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`SET LOCAL maintenance_work_mem = '512MB'`;
    await tx`SELECT setval('log_position', ${before + scans})`;
    await tx`
      CREATE TEMP TABLE bench_codes ON COMMIT DROP AS
      SELECT code, (number - 1)::int AS i, (${accounts}::text[])[1 + (number - 1) / ${codesPerAccount}::int] AS account
      FROM unnest(${codes}::text[]) WITH ORDINALITY AS c (code, number)`;
    await tx`ANALYZE bench_codes`;
    await tx`
      INSERT INTO scans (position, id, code, account, mode, occurred_at, country, region, city, device, browser, is_bot,
        visitor, is_unique, revision)
      SELECT ${before}::bigint + n, 'scan_' || lpad(n::text, 22, '0'), c.code, c.account, 'live',
        to_timestamp((${tx.unsafe(timeMs(plan, 'n', divide))}) / 1000.0), 'DE', 'Land Berlin', 'Berlin', 'ios', 'safari', false,
        md5(n::text)::uuid, true, 1
      FROM generate_series(1, ${scans}::bigint) AS n
      JOIN bench_codes c ON c.i = ${tx.unsafe(codeIndex(plan, 'n', divide))}`;
    await tx`ALTER TABLE visitors DROP CONSTRAINT visitors_pkey`;
    await tx`INSERT INTO visitors SELECT hashtextextended(code, 0), visitor FROM scans`;
    await tx`ALTER TABLE visitors ADD PRIMARY KEY (code_hash, visitor)`;
  });
}

/** Counters, the index and times of the log, and the checkpoints of all projections. */
async function fillDerived(sql: Sql, plan: Plan): Promise<void> {
  const { scans, before } = plan;
  const head = before + scans;
  await counters.rebuild(sql);
  while (await indexNextBlock(sql, head));
  await sql`UPDATE checkpoints SET position = ${head} WHERE projection = 'webhooks'`;
  const hours = Math.floor(periodMs / hourMs);
  await sql`
    INSERT INTO log_times (at, position)
    SELECT to_timestamp((${plan.startMs}::bigint + hour * ${hourMs}) / 1000.0), ${before}::bigint + hour * ${scans} / ${hours}
    FROM generate_series(1, ${hours - 1}::bigint) AS hour`;
  await sql`
    INSERT INTO warehouse_tables (definition, in_use, position, removed_to, rows)
    VALUES (${definition.number}, true, ${head}, ${head}, ${scans})`;
  const connection = await sql.reserve();
  await connection`SET statement_timeout = 0`;
  await connection`VACUUM ANALYZE scans, visitors, scan_counts, account_blocks, indexed_blocks, codes, events`;
  await connection`RESET statement_timeout`;
  connection.release();
}

/** Otherwise what was filled is still written beside the first operations. */
async function writeToDisk({ adminDatabaseUrl }: BenchStack): Promise<void> {
  const admin = connect(adminDatabaseUrl, { name: 'bench', max: 1, responseTimeoutMs: 'none' });
  await admin`CHECKPOINT`.finally(() => admin.end({ timeout: 1 }));
  await Bun.$`sync`.quiet();
}

async function fillWarehouse({ clickhouseUrl }: BenchStack, plan: Plan): Promise<void> {
  const { scans, before, accounts, codes } = plan;
  const warehouse = connectWarehouse({ ...readConfig({}), clickhouseUrl });
  const divide = (a: string, b: number) => `intDiv(${a}, ${b})`;
  const visitor = `toUUID(replaceRegexpOne(lower(hex(MD5(toString(n)))), '(.{8})(.{4})(.{4})(.{4})', '\\\\1-\\\\2-\\\\3-\\\\4-'))`;
  try {
    await createTable(warehouse, tableVersion);
    for (let at = 1; at <= scans; at += maxInsertRows)
      await warehouse.client.command({
        query: `INSERT INTO ${tableName(warehouse, tableVersion)}
          SELECT {accounts:Array(String)}[1 + intDiv(i, ${codesPerAccount})], 'live', {codes:Array(String)}[1 + i],
            fromUnixTimestamp64Milli(toInt64(${timeMs(plan, 'n', divide)}), 'UTC'), ${before} + n,
            concat('scan_', leftPad(toString(n), 22, '0')), 'DE', 'Land Berlin', 'Berlin', 'ios', 'safari', 0, ${visitor},
            1, 1, '', ''
          FROM (
            SELECT toInt64(number) AS n, ${codeIndex(plan, 'n', divide)} AS i
            FROM numbers({at:UInt64}, {rows:UInt64})
          )`,
        query_params: { accounts, codes, at, rows: Math.min(maxInsertRows, scans - at + 1) },
        clickhouse_settings: { insert_deduplicate: 0 },
      });
  } finally {
    await warehouse.client.close();
  }
}
