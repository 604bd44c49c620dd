import { connect as connectNats, type NatsConnection } from 'nats';
import { readConfig } from '../src/config.ts';
import { headOfLog } from '../src/log/read.ts';
import { connectWarehouse, type Warehouse } from '../src/warehouse/connect.ts';
import type { Ground } from './ground.ts';
import { childrenOf, cpuSeconds, handles, residentMemory, threads } from './process.ts';

const quietMs = 2_500;
const lookEveryMs = 100;

/** What a process holds, after a while of nothing to do. */
interface Held {
  /** MB, the least that was seen. */
  memory: number;
  handles: number;
  threads: number;
  cpu: number;
}

export interface Table {
  name: string;
  bytes: number;
  live: number;
  dead: number;
}

/** What everything holds at a quiet moment. */
export interface Sample {
  processes: Record<ProcessName, Held>;
  connections: number;
  /** Those that are updated or deleted from. */
  tables: Table[];
  wal: { onDisk: number; most: number; written: number };
  stream: { bytes: number; most: number };
  parts: { active: number; inactive: number };
  scans: { count: number; postgresBytes: number; warehouseBytes: number };
}

export const processNames = ['front', 'behind', 'nats', 'clickhouse'] as const;
export type ProcessName = (typeof processNames)[number];

export interface Sampler {
  /** Waits until all that was to do is done, and nothing happens for a moment. */
  take(): Promise<Sample>;
  close(): Promise<void>;
}

export async function openSampler(ground: Ground, servicePid: number): Promise<Sampler> {
  const { user, pass, server } = credentials(ground.natsUrl);
  const nats = await connectNats({ servers: server, user, pass });
  const warehouse = connectWarehouse({ ...readConfig({}), clickhouseUrl: ground.clickhouseUrl });
  const part = (name: string) => ground.parts.find((one) => one.name === name)?.pid() ?? 0;
  const pids: Record<ProcessName, number> = {
    front: servicePid,
    behind: childrenOf(servicePid)[0] ?? 0,
    nats: part('nats'),
    clickhouse: part('clickhouse'),
  };
  return {
    async take() {
      await untilDone(ground);
      const memory = await leastMemory(pids);
      const held = (name: ProcessName): Held => ({
        ...{ memory: memory[name], handles: handles(pids[name]), threads: threads(pids[name]) },
        cpu: cpuSeconds(pids[name]),
      });
      return {
        processes: { front: held('front'), behind: held('behind'), nats: held('nats'), clickhouse: held('clickhouse') },
        ...(await ofPostgres(ground)),
        stream: await ofStream(nats),
        ...(await ofWarehouse(ground, warehouse)),
      };
    },
    async close() {
      await nats.close();
      await warehouse.client.close();
    },
  };
}

function credentials(address: string) {
  const { username, password, host } = new URL(address);
  return { user: username, pass: password, server: host };
}

async function untilDone({ sql }: Ground): Promise<void> {
  const head = await headOfLog(sql);
  for (;;) {
    const [row] = await sql<{ done: boolean }[]>`
      SELECT w.position >= ${head} AND w.removing_to IS NULL
        AND (SELECT min(position) FROM checkpoints) >= ${head}
        AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE status = 'pending') AS done
      FROM warehouse_tables w WHERE w.in_use`;
    if (row?.done) return;
    await Bun.sleep(lookEveryMs);
  }
}

async function leastMemory(pids: Record<ProcessName, number>): Promise<Record<ProcessName, number>> {
  const least = { front: Infinity, behind: Infinity, nats: Infinity, clickhouse: Infinity };
  for (const end = performance.now() + quietMs; performance.now() < end; await Bun.sleep(lookEveryMs))
    for (const name of processNames) least[name] = Math.min(least[name], residentMemory(pids[name]));
  return least;
}

async function ofPostgres({ sql }: Ground) {
  const [{ connections }] = await sql<[{ connections: number }]>`
    SELECT count(*)::int AS connections FROM pg_stat_activity WHERE application_name LIKE 'scanlog%'`;
  const tables = await sql<Table[]>`
    SELECT relname AS name, pg_table_size(relid) AS bytes, n_live_tup AS live, n_dead_tup AS dead
    FROM pg_stat_user_tables WHERE n_tup_upd + n_tup_del > 0`;
  const [wal] = await sql<[Sample['wal']]>`
    SELECT (SELECT sum(size) FROM pg_ls_waldir())::bigint AS "onDisk",
      pg_size_bytes(current_setting('max_wal_size')) AS most, (pg_current_wal_lsn() - '0/0')::bigint AS written`;
  return { connections, tables, wal };
}

async function ofStream(nats: NatsConnection): Promise<Sample['stream']> {
  const { config, state } = await (await nats.jetstreamManager()).streams.info(readConfig({}).stream);
  return { bytes: state.bytes, most: config.max_bytes };
}

async function ofWarehouse({ sql }: Ground, { client, database }: Warehouse) {
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
