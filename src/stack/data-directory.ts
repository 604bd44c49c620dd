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

/** The folder with all data of the embedded stack. */
export interface DataDirectory {
  path: string;
  /** Process ids and addresses of the running stack. */
  run: string;
  logs: string;
}

/** Passwords of the embedded servers, because other users of the machine can connect to loopback too. */
export interface StackSecrets {
  /** Password of the superuser, which only the stack itself uses. */
  postgres: string;
  /** Password of the role that the service and the commands connect as. */
  postgresService: string;
  nats: string;
  clickhouse: string;
  /** SECRET_KEY of the service. Everything encrypted with it is lost if it is lost. */
  secretKey: string;
  /** The new key while `./scanlog secret rotate` runs. */
  nextSecretKey?: string;
}

/** Addresses of a running `up`, for commands in other terminals. */
export interface RunningStack {
  databaseUrl: string;
  natsUrl: string;
  clickhouseUrl: string;
  /** Set once the service is ready. */
  publicUrl?: string;
}

export function openDataDirectory(path: string): DataDirectory {
  try {
    mkdirSync(path, { recursive: true });
    const real = realpathSync(path);
    // Started as root, the servers run as another user who must enter this folder; the folders inside are closed.
    if (process.getuid?.() === 0) chmodSync(real, 0o711);
    const data = { path: real, run: join(real, 'run'), logs: join(real, 'logs') };
    mkdirSync(data.run, { recursive: true, mode: 0o700 });
    mkdirSync(data.logs, { recursive: true, mode: 0o700 });
    return data;
  } catch (error) {
    throw new StartError(`The data directory ${path} cannot be used: ${messageOf(error)}`);
  }
}

/** Locks the directory for this process, and returns the function that unlocks it. Replaces the lock of a dead process. */
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
        `Scanlog already runs on ${data.path} (process ${holder.pid}): stop it, or pass another --data.`,
      );
    // If two processes find the same stale lock, only one of them succeeds in renaming it.
    const stale = `${file}.${process.pid}`;
    try {
      renameSync(file, stale);
      rmSync(stale, { force: true });
    } catch {
      // The other process removed it.
    }
  }
}

/** Reads the secrets of a data folder; generates and stores those that are missing. */
export function readSecrets(data: DataDirectory): StackSecrets {
  const stored = storedSecrets(data.path);
  const secret = (bytes = 24) => randomBytes(bytes).toString('hex');
  const generated = { postgres: secret(), postgresService: secret(), nats: secret(), clickhouse: secret() };
  const secrets = { ...generated, secretKey: secret(32), ...stored };
  if (Object.keys(stored).length < Object.keys(secrets).length) writeSecrets(data.path, secrets);
  return secrets;
}

const secretsFile = (path: string) => join(path, 'secrets.json');

/** The stored secrets of a data folder; empty if no `up` has run on it. */
export function storedSecrets(path: string): Partial<StackSecrets> {
  const file = secretsFile(path);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Writes a synced file and renames it, because the service could not start with a partial file. */
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

/** Stores the addresses of a running stack, for `findRunning`. */
export function announce(data: DataDirectory, running: RunningStack): void {
  writeFileSync(runningFile(data.path), JSON.stringify(running), { mode: 0o600 });
}

export function retract(data: DataDirectory): void {
  rmSync(runningFile(data.path), { force: true });
}

/** The stack of an `up` that runs on this directory. */
export function findRunning(path: string): RunningStack | undefined {
  const holder = readMark(join(path, 'lock'));
  if (holder === undefined || !isAlive(holder) || !existsSync(runningFile(path))) return undefined;
  return JSON.parse(readFileSync(runningFile(path), 'utf8'));
}
