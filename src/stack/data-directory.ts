import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { messageOf, StartError } from '../lib/errors.ts';
import { isAlive, markOf, readMark } from './processes.ts';

/** Where the embedded stack keeps everything. */
export interface DataDirectory {
  path: string;
  /** Ids of the processes that run now. */
  run: string;
  logs: string;
}

/** Passwords between the service and its embedded parts: other users of the machine can reach loopback too. */
export interface StackSecrets {
  /** The superuser's, which only the stack itself uses. */
  postgres: string;
  /** That of the role that the service and the commands connect as. */
  postgresService: string;
  nats: string;
  clickhouse: string;
  /** Not a part's: what the service encrypts secrets with. Without it they are lost. */
  secretKey: string;
  /** While `./scanlog secret rotate` is under way: the key that follows. */
  nextSecretKey?: string;
}

/** Where the parts of a running `up` are, for commands in other terminals. */
export interface RunningStack {
  databaseUrl: string;
  natsUrl: string;
  clickhouseUrl: string;
  /** Where people reach the service, once it is up. */
  publicUrl?: string;
}

export function openDataDirectory(path: string): DataDirectory {
  try {
    mkdirSync(path, { recursive: true });
    const real = realpathSync(path);
    // Root runs the servers as another user, who has to get through here; what matters inside is closed to others.
    if (process.getuid?.() === 0) chmodSync(real, 0o711);
    const data = { path: real, run: join(real, 'run'), logs: join(real, 'logs') };
    mkdirSync(data.run, { recursive: true, mode: 0o700 });
    mkdirSync(data.logs, { recursive: true, mode: 0o700 });
    return data;
  } catch (error) {
    throw new StartError(`The data directory ${path} cannot be used: ${messageOf(error)}`);
  }
}

/** Takes the directory for this process. One that died without giving it back does not count. */
export function lockDataDirectory(data: DataDirectory): () => void {
  const file = join(data.path, 'lock');
  const mine = JSON.stringify(markOf(process.pid));
  for (;;) {
    try {
      writeFileSync(file, mine, { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (!existsSync(file)) throw new StartError(`${file} cannot be written: ${messageOf(error)}`);
    }
    const holder = readMark(file);
    if (holder !== undefined && isAlive(holder))
      throw new StartError(
        `Scanlog already runs on ${data.path} (process ${holder.pid}): stop it, or choose another --data.`,
      );
    // Of two that find the same stale lock, only one moves it away.
    const stale = `${file}.${process.pid}`;
    try {
      renameSync(file, stale);
      rmSync(stale, { force: true });
    } catch {
      // The other one did.
    }
  }
}

/** What a start before this one has made; what is missing is made now and kept. */
export function readSecrets(data: DataDirectory): StackSecrets {
  const known = storedSecrets(data.path);
  const secret = (bytes = 24) => randomBytes(bytes).toString('hex');
  const made = { postgres: secret(), postgresService: secret(), nats: secret(), clickhouse: secret() };
  const secrets = { ...made, secretKey: secret(32), ...known };
  if (Object.keys(known).length < Object.keys(secrets).length) writeSecrets(data.path, secrets);
  return secrets;
}

const secretsFile = (path: string) => join(path, 'secrets.json');

/** The secrets in a folder; none where no `up` has run on it. */
export function storedSecrets(path: string): Partial<StackSecrets> {
  const file = secretsFile(path);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** By rename, and synced: half a file would lock out the service. */
export function writeSecrets(path: string, secrets: Partial<StackSecrets>): void {
  const file = secretsFile(path);
  const handle = openSync(`${file}.new`, 'w', 0o600);
  try {
    writeSync(handle, JSON.stringify(secrets));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(`${file}.new`, file);
}

const runningFile = (path: string) => join(path, 'run', 'stack.json');

export function announce(data: DataDirectory, running: RunningStack): void {
  writeFileSync(runningFile(data.path), JSON.stringify(running), { mode: 0o600 });
}

export function retract(data: DataDirectory): void {
  rmSync(runningFile(data.path), { force: true });
}

/** The stack that an `up` in another terminal runs on this directory. */
export function findRunning(path: string): RunningStack | undefined {
  const holder = readMark(join(path, 'lock'));
  if (holder === undefined || !isAlive(holder) || !existsSync(runningFile(path))) return undefined;
  return JSON.parse(readFileSync(runningFile(path), 'utf8'));
}
