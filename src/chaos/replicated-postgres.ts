import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../lib/logger.ts';
import { type DataDirectory, openDataDirectory } from '../stack/data-directory.ts';
import { adminUrl, askPostgres, postgresPlan } from '../stack/postgres.ts';
import { freePort } from '../stack/processes.ts';
import { type BreakablePart, startBreakable } from './breakable-part.ts';
import { copyAsStandby } from './postgres-replica.ts';

/** A Postgres primary that can be given a streaming replica, and be replaced by it. */
export interface ReplicatedPostgres extends BreakablePart {
  /** Of the primary. */
  url(): string;
  /** Starts a replica. Once it resolves, every commit that was or will be acknowledged is on it, if synchronous. */
  addReplica(kind: 'synchronous' | 'asynchronous'): Promise<void>;
  /** From now on the replica receives nothing: what the primary commits exists there only. */
  isolateReplica(): Promise<void>;
  /** `kill -9` of the primary, for good; after `meanwhile` the replica is promoted in its place. */
  failOver(meanwhile: () => Promise<unknown>): Promise<void>;
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
  /** The primary is another one now. */
  onFailOver(url: string): void;
}

export async function startReplicatedPostgres({
  data,
  password,
  log,
  onFailOver,
}: Options): Promise<ReplicatedPostgres> {
  const start = async (at: DataDirectory): Promise<Server> => {
    const port = await freePort();
    // Killing a process loses nothing that was written: only a machine that loses power would need the disk.
    const part = await startBreakable(postgresPlan({ data: at, port, password, durable: false }), at, log);
    return { data: at, port, part };
  };
  const query = async <T>({ port }: Server, work: (sql: ReturnType<typeof askPostgres>) => Promise<T>): Promise<T> => {
    const sql = askPostgres(port, password);
    return work(sql).finally(() => sql.end({ timeout: 1 }));
  };

  let primary = await start(data);
  let replica: Server | undefined;
  let generations = 0;
  const needReplica = (): Server => {
    if (replica === undefined) throw new Error('Postgres has no replica');
    return replica;
  };

  /** Commits from here on wait for a standby; resolves once one is seen to wait, with what ends when it waits no more. */
  async function requireStandby(): Promise<{ replicated: Promise<unknown> }> {
    await query(primary, async (sql) => {
      await sql`ALTER SYSTEM SET synchronous_standby_names = '*'`;
      await sql`SELECT pg_reload_conf()`;
    });
    let isWaiting = false;
    const replicated = query(primary, async (sql) => {
      // Its commit may come before the setting is in force.
      while (!isWaiting) await sql`SELECT pg_current_xact_id()`;
    });
    await query(primary, async (sql) => {
      while (!isWaiting) {
        await sleep(10);
        isWaiting = (await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'`).length > 0;
      }
    });
    return { replicated };
  }

  return {
    url: () => adminUrl(primary.port, password),
    kill: () => primary.part.kill(),
    comeBack: () => primary.part.comeBack(),
    pause: () => primary.part.pause(),
    resume: () => primary.part.resume(),
    async addReplica(kind) {
      const own = openDataDirectory(join(data.path, `replica-${++generations}`));
      const primaryConninfo = `host=127.0.0.1 port=${primary.port} user=scanlog password=${password}`;
      const [from, to] = [join(primary.data.path, 'postgres'), join(own.path, 'postgres')];
      await query(primary, (sql) => copyAsStandby(sql, { from, to, primaryConninfo }));
      const standby = kind === 'synchronous' ? await requireStandby() : undefined;
      replica = await start(own);
      await standby?.replicated;
    },
    isolateReplica: () =>
      query(needReplica(), async (sql) => {
        await sql`ALTER SYSTEM SET primary_conninfo = ''`;
        await sql`SELECT pg_reload_conf()`;
        while ((await sql`SELECT 1 FROM pg_stat_wal_receiver`).length > 0) await sleep(10);
      }),
    async failOver(meanwhile) {
      const promoted = needReplica();
      const old = primary;
      await old.part.kill();
      await meanwhile();
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
