import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, StartError } from '../lib/errors.ts';
import { timeouts } from '../lib/timeouts.ts';
import type { EngineName } from './clickhouse/engine.ts';
import {
  checkout,
  clickhouseCommand,
  missingFor,
  nodeRuntime,
  selectedEngines,
  serverFiles,
} from './clickhouse/engines.ts';
import type { DataDirectory } from './data-directory.ts';
import type { PartPlan } from './part.ts';
import { isOpenToOthers, makeOpenFolder, openPathOf, readableProgram, readableRoot } from './reach.ts';
import { changeOwner, launchAs, type ServerUser, serverUser } from './server-user.ts';

export const clickhouseUrl = (port: number, password: string) => `http://default:${password}@127.0.0.1:${port}`;

interface ClickHouseOptions {
  data: DataDirectory;
  port: number;
  password: string;
  isBelowRedirects?: boolean;
}

export function clickhousePlan(options: ClickHouseOptions): PartPlan {
  const { data, port, password, isBelowRedirects = false } = options;
  return {
    name: 'clickhouse',
    stopSignal: 'SIGTERM',
    launch() {
      const [engine] = selectedEngines();
      if (engine === undefined)
        throw new StartError(
          `No embedded ClickHouse can run on this machine (${missingFor('native') ?? missingFor('wasm')}): set CLICKHOUSE_URL.`,
        );
      const user = serverUser(data);
      const folder = dataFolder(data, user);
      changeOwner(user, folder);
      const programs = user === undefined ? {} : readablePrograms(engine);
      return launchAs(user, folder, (dataDir) =>
        clickhouseCommand({ engine, dataDir, port, password, isBelowRedirects, ...programs }),
      );
    },
    // With the password, which another ClickHouse on this port would refuse.
    answers: () =>
      fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        body: 'SELECT 1',
        headers: { authorization: `Basic ${btoa(`default:${password}`)}` },
        signal: AbortSignal.timeout(timeouts.partProbeMs),
      }).then(
        (response) => response.ok,
        () => false,
      ),
  };
}

function readablePrograms(engine: EngineName): { runtime?: string; root: string } {
  const root = readableRoot(checkout, serverFiles(engine));
  const runtime = nodeRuntime();
  return runtime === undefined ? { root } : { root, runtime: readableProgram(runtime) };
}

/**
 * ClickHouse resolves the real path of its folder, which fails for its user below a folder that is closed to other users.
 * There, the data moves to an open path and a symbolic link replaces it. That is safe for ClickHouse only: everything in
 * it can be rebuilt from the log.
 */
function dataFolder(data: DataDirectory, user: ServerUser | undefined): string {
  const folder = join(data.path, 'clickhouse');
  const moved = openPathOf(folder);
  const target = lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(folder) : undefined;
  // In a data folder that was renamed or copied, the link still points to the data of the old path.
  const isForeign = target?.startsWith(openPathOf('/')) === true && target !== moved;
  if (target !== undefined && (isForeign || !existsSync(folder))) unlinkSync(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const real = realpathSync(folder);
  if (user === undefined || isOpenToOthers(real)) return real;
  try {
    makeOpenFolder(dirname(moved));
    rmSync(moved, { recursive: true, force: true });
    execFileSync('mv', ['-T', folder, moved], { stdio: 'pipe' });
    symlinkSync(moved, folder);
  } catch (error) {
    throw new StartError(
      `${folder} is closed to the user ${user.name}, which ClickHouse runs as, and cannot be moved to ${moved} (${messageOf(error)}): choose another --data, or start as a user other than root.`,
    );
  }
  return moved;
}
