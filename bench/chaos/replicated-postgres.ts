import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../src/lib/logger.ts';
import { type DataDirectory, openDataDirectory } from '../../src/stack/data-directory.ts';
import { adminUrl, connectAsAdmin, postgresPlan } from '../../src/stack/postgres.ts';
import { freePort } from '../../src/stack/processes.ts';
import { type BreakablePart, startBreakable } from './breakable-part.ts';
import { copyAsStandby } from './postgres-replica.ts';

/** A Postgres primary that can get a streaming replica and fail over to it. */
export interface ReplicatedPostgres extends BreakablePart {
  /** The primary's URL. */
  url(): string;
  /** Starts a replica. If synchronous, it has every commit acknowledged before or after this resolves. */
  addReplica(kind: 'synchronous' | 'asynchronous'): Promise<void>;
  /** Disconnects the replica from the primary, so that later commits exist on the primary only. */
  isolateReplica(): Promise<void>;
  /** `kill -9` of the primary, which is not restarted; after `duringFault` the replica is promoted. */
  failOver(duringFault: () => Promise<unknown>): Promise<void>;
}

interface Server {
  data: DataDirectory;
  port: number;
  part: BreakablePart;
}

interface Options {
  data: DataDirectory;
  password: string;
  log: Logger;
  /** False by default, which skips fsync: written data survives kill -9, only a power failure would lose it. */
  durable?: boolean;
  /** Called with the URL of the new primary. */
  onFailOver(url: string): void;
}

export async function startReplicatedPostgres({
  data,
  password,
  log,
  durable = false,
  onFailOver,
}: Options): Promise<ReplicatedPostgres> {
  const start = async (serverData: DataDirectory): Promise<Server> => {
    const port = await freePort();
    const part = await startBreakable(postgresPlan({ data: serverData, port, password, durable }), serverData, log);
    return { data: serverData, port, part };
  };
  const query = async <T>(
    { port }: Server,
    work: (sql: ReturnType<typeof connectAsAdmin>) => Promise<T>,
  ): Promise<T> => {
    const sql = connectAsAdmin(port, password);
    return work(sql).finally(() => sql.end({ timeout: 1 }));
  };

  let primary = await start(data);
  let replica: Server | undefined;
  let replicaCount = 0;
  const requireReplica = (): Server => {
    if (replica === undefined) throw new Error('Postgres has no replica');
    return replica;
  };

  /**
   * Makes commits wait for a standby and resolves once one is seen waiting; `replicated` resolves when a standby has
   * confirmed it, and with it all commits before it.
   */
  async function requireStandby(): Promise<{ replicated: Promise<unknown> }> {
    const waiting = Promise.withResolvers<number>();
    let isWaiting = false;
    const replicated = query(primary, async (sql) => {
      await sql`ALTER SYSTEM SET synchronous_standby_names = '*'`;
      await sql`SELECT pg_reload_conf()`;
      const [session] = await sql<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
      waiting.resolve(session.pid);
      // Repeated because the first commits may precede the reload of the setting. A commit waits only if it has written WAL.
      while (!isWaiting) await sql`SELECT pg_logical_emit_message(true, 'chaos', '')`;
    });
    replicated.catch(waiting.reject);
    const pid = await waiting.promise;
    await query(primary, async (sql) => {
      while (!isWaiting) {
        await sleep(10);
        isWaiting = (await sql`SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'SyncRep'`).length > 0;
      }
    });
    return { replicated };
  }

  return {
    url: () => adminUrl(primary.port, password),
    kill: () => primary.part.kill(),
    restart: () => primary.part.restart(),
    pause: () => primary.part.pause(),
    resume: () => primary.part.resume(),
    async addReplica(kind) {
      const replicaData = openDataDirectory(join(data.path, `replica-${++replicaCount}`));
      const primaryConninfo = `host=127.0.0.1 port=${primary.port} user=scanlog password=${password}`;
      const [from, to] = [join(primary.data.path, 'postgres'), join(replicaData.path, 'postgres')];
      await query(primary, (sql) => copyAsStandby(sql, { from, to, primaryConninfo }));
      const standby = kind === 'synchronous' ? await requireStandby() : undefined;
      replica = await start(replicaData);
      await standby?.replicated;
    },
    isolateReplica: () =>
      query(requireReplica(), async (sql) => {
        await sql`ALTER SYSTEM SET primary_conninfo = ''`;
        await sql`SELECT pg_reload_conf()`;
        while ((await sql`SELECT 1 FROM pg_stat_wal_receiver`).length > 0) await sleep(10);
      }),
    async failOver(duringFault) {
      const promoted = requireReplica();
      const old = primary;
      await old.part.kill();
      await duringFault();
      await query(promoted, (sql) => sql`SELECT pg_promote()`);
      primary = promoted;
      replica = undefined;
      onFailOver(adminUrl(primary.port, password));
      await old.part.discard();
      rmSync(join(old.data.path, 'postgres'), { recursive: true, force: true });
    },
    discard: () => primary.part.discard(),
    async stop() {
      await Promise.all([primary.part.stop(), replica?.part.stop()]);
    },
  };
}
