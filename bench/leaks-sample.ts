import { connect as connectNats, type NatsConnection } from 'nats';
import { connectWarehouse, type Warehouse } from '../src/analytics/connect.ts';
import { readConfig } from '../src/config/config.ts';
import type { Sql } from '../src/lib/sql.ts';
import { connect } from '../src/log/connect.ts';
import { headOfLog } from '../src/log/read.ts';
import { childrenOf } from '../src/stack/processes.ts';
import type { BenchStack } from './bench-stack.ts';
import { cpuSeconds, handles, residentMemory, threads } from './process.ts';

const samplingMs = 2_500;
const pollMs = 100;

/** What an idle process uses. */
interface ProcessUsage {
  /** The minimum seen, in MB. */
  memory: number;
  handles: number;
  threads: number;
  cpuSeconds: number;
}

export interface Table {
  name: string;
  bytes: number;
  live: number;
  dead: number;
}

/** The resources in use while the service is idle. */
export interface Sample {
  processes: Record<ProcessName, ProcessUsage>;
  connections: number;
  /** The tables with updates or deletes. */
  tables: Table[];
  wal: { onDisk: number; limit: number; written: number };
  stream: { bytes: number; limit: number };
  parts: { active: number; inactive: number };
  scans: { count: number; postgresBytes: number; warehouseBytes: number };
}

export const processNames = ['serving', 'background', 'nats', 'clickhouse'] as const;
export type ProcessName = (typeof processNames)[number];

export interface Sampler {
  /** Waits until everything is projected and delivered, then samples. */
  take(): Promise<Sample>;
  close(): Promise<void>;
}

export async function openSampler(stack: BenchStack, servicePid: number): Promise<Sampler> {
  const { user, pass, server } = credentials(stack.natsUrl);
  const nats = await connectNats({ servers: server, user, pass });
  const warehouse = connectWarehouse({ ...readConfig({}), clickhouseUrl: stack.clickhouseUrl });
  const admin = connect(stack.adminDatabaseUrl, { name: 'bench', max: 1 });
  const part = (name: string) => stack.parts.find((one) => one.name === name)?.pid() ?? 0;
  const pids: Record<ProcessName, number> = {
    serving: servicePid,
    background: childrenOf(servicePid)[0] ?? 0,
    nats: part('nats'),
    clickhouse: part('clickhouse'),
  };
  return {
    async take() {
      await untilIdle(stack);
      const memory = await minMemory(pids);
      const usage = (name: ProcessName): ProcessUsage => ({
        memory: memory[name],
        handles: handles(pids[name]),
        threads: threads(pids[name]),
        cpuSeconds: cpuSeconds(pids[name]),
      });
      return {
        processes: {
          serving: usage('serving'),
          background: usage('background'),
          nats: usage('nats'),
          clickhouse: usage('clickhouse'),
        },
        ...(await samplePostgres(stack)),
        wal: await sampleWal(admin),
        stream: await sampleStream(nats),
        ...(await sampleWarehouse(stack, warehouse)),
      };
    },
    async close() {
      await nats.close();
      await warehouse.client.close();
      await admin.end({ timeout: 1 });
    },
  };
}

function credentials(address: string) {
  const { username, password, host } = new URL(address);
  return { user: username, pass: password, server: host };
}

async function untilIdle({ sql }: BenchStack): Promise<void> {
  const head = await headOfLog(sql);
  for (;;) {
    const [row] = await sql<{ done: boolean }[]>`
      SELECT w.position >= ${head} AND w.removing_to IS NULL
        AND (SELECT min(position) FROM checkpoints WHERE projection IN ('counters', 'webhooks')) >= ${head}
        AND NOT EXISTS (SELECT FROM deliveries WHERE status = 'pending') AS done
      FROM warehouse_tables w WHERE w.in_use`;
    if (row?.done) return;
    await Bun.sleep(pollMs);
  }
}

async function minMemory(pids: Record<ProcessName, number>): Promise<Record<ProcessName, number>> {
  const min = { serving: Infinity, background: Infinity, nats: Infinity, clickhouse: Infinity };
  for (const end = performance.now() + samplingMs; performance.now() < end; await Bun.sleep(pollMs))
    for (const name of processNames) min[name] = Math.min(min[name], residentMemory(pids[name]));
  return min;
}

async function samplePostgres({ sql }: BenchStack) {
  const [{ connections }] = await sql<[{ connections: number }]>`
    SELECT count(*)::int AS connections FROM pg_stat_activity WHERE application_name LIKE 'scanlog%'`;
  const tables = await sql<Table[]>`
    SELECT relname AS name, pg_table_size(relid) AS bytes, n_live_tup AS live, n_dead_tup AS dead
    FROM pg_stat_user_tables WHERE n_tup_upd + n_tup_del > 0`;
  return { connections, tables };
}

/** The service's role may not list the WAL. */
async function sampleWal(admin: Sql): Promise<Sample['wal']> {
  const [wal] = await admin<[Sample['wal']]>`
    SELECT (SELECT sum(size) FROM pg_ls_waldir())::bigint AS "onDisk",
      pg_size_bytes(current_setting('max_wal_size')) AS "limit", (pg_current_wal_lsn() - '0/0')::bigint AS written`;
  return wal;
}

async function sampleStream(nats: NatsConnection): Promise<Sample['stream']> {
  const { config, state } = await (await nats.jetstreamManager()).streams.info(readConfig({}).stream);
  return { bytes: state.bytes, limit: config.max_bytes };
}

async function sampleWarehouse({ sql }: BenchStack, { client, database }: Warehouse) {
  const result = await client.query({
    query: 'SELECT active, bytes_on_disk AS bytes FROM system.parts WHERE database = {database:String}',
    query_params: { database },
    format: 'JSONEachRow',
  });
  const parts = await result.json<{ active: number; bytes: number | string }>();
  const active = parts.filter((part) => part.active === 1);
  const [stored] = await sql<[{ count: number; postgresBytes: number }]>`
    SELECT (SELECT count(*) FROM scans) AS count, pg_total_relation_size('visitors')
      + (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'scans'::regclass)::bigint
      AS "postgresBytes"`;
  return {
    parts: { active: active.length, inactive: parts.length - active.length },
    scans: { ...stored, warehouseBytes: active.reduce((sum, { bytes }) => sum + Number(bytes), 0) },
  };
}
