import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { environmentWith } from '../../src/lib/secret-file.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { locks } from '../../src/log/locks.ts';
import { partitionAt } from '../../src/log/partitions.ts';
import type { World } from './world.ts';

const program = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const partitionDueEveryMs = 60_000;
const retryMs = 1_000;
/** Scans until the next partition is needed. */
const scansBeforePartition = 500;

export interface MaintenanceResult {
  backups: number;
  verifications: number;
  /** Commands that a fault ended, such as a killed Postgres. */
  interrupted: number;
  /** How often the log reached a new partition. */
  partitions: number;
}

export interface Maintenance {
  /** Ends the commands under way. */
  stop(): Promise<MaintenanceResult>;
}

/** Runs `./scanlog backup` and `./scanlog verify` all the time, and lets the log reach a new partition every minute. */
export function startMaintenance(world: World): Maintenance {
  const stopping = new AbortController();
  const result: MaintenanceResult = { backups: 0, verifications: 0, interrupted: 0, partitions: 0 };
  const repeat = async (count: 'backups' | 'verifications', args: string[]) => {
    while (!stopping.signal.aborted) {
      const code = await runCommand(args, world, stopping.signal);
      if (code === 0) result[count]++;
      else if (!stopping.signal.aborted) result.interrupted++;
    }
  };
  const pause = async (ms: number) => {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
    return !stopping.signal.aborted;
  };
  const advance = async () => {
    while (await pause(partitionDueEveryMs)) {
      // Postgres may be down, or the service has not made the next partition yet.
      while (!(await approachNextPartition(world.sql).catch(() => false))) if (!(await pause(retryMs))) return;
      result.partitions++;
    }
  };
  const file = join(world.folder, 'chaos.backup');
  const loops = [repeat('backups', ['backup', file]), repeat('verifications', ['verify']), advance()];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      rmSync(file, { force: true });
      return result;
    },
  };
}

async function runCommand(args: string[], world: World, signal: AbortSignal): Promise<number | null> {
  const environment = {
    DATABASE_URL: world.postgres.url(),
    NATS_URL: world.proxies.nats.url,
    CLICKHOUSE_URL: world.proxies.clickhouse.url,
  };
  const env = environmentWith(process.env, environment);
  const child = spawn(process.execPath, [program, ...args], { stdio: 'ignore', env });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  signal.removeEventListener('abort', kill);
  return code;
}

/** Skips the positions up to shortly before the end of the current partition; false if the next one does not exist yet. */
async function approachNextPartition(sql: Sql): Promise<boolean> {
  const [{ position }] = await sql<[{ position: number }]>`SELECT last_value AS position FROM log_position`;
  const current = await partitionAt(sql, position);
  if (current === undefined || (await partitionAt(sql, current.to)) === undefined) return false;
  const target = current.to - scansBeforePartition;
  // The lock first: positions increase in commit order.
  await sql.begin((tx) => [
    tx`SELECT pg_advisory_xact_lock(${locks.append})`,
    tx`SELECT setval('log_position', greatest(last_value, ${target})) FROM log_position`,
  ]);
  return true;
}
