import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, StartError } from '../lib/errors.ts';
import type { DataDirectory } from './data-directory.ts';
import type { Launch } from './part.ts';
import { isOpenToOthers } from './reach.ts';

/** The user that the embedded servers run as if Scanlog is started as root. */
export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * The owner of this directory's Postgres data, even if the machine gets a user `postgres` later; for a new directory
 * `postgres` if that user exists, else `nobody`. Undefined if not started as root.
 */
export function serverUser(data: DataDirectory): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  const folder = join(data.path, 'postgres');
  const owner = existsSync(folder) ? statSync(folder) : undefined;
  if (owner !== undefined && owner.uid !== 0) {
    const name = users.find(({ uid }) => uid === owner.uid)?.name ?? String(owner.uid);
    return { name, uid: owner.uid, gid: owner.gid };
  }
  const user = ['postgres', 'nobody'].map((wanted) => users.find(({ name }) => name === wanted)).find(Boolean);
  if (user === undefined)
    throw new StartError(
      'The embedded servers cannot run as root, and this machine has no user "postgres" or "nobody": start as another user.',
    );
  return user;
}

/** Makes `user` the owner of a folder and of everything in it, because earlier versions ran NATS and ClickHouse as root. */
export function changeOwner(user: ServerUser | undefined, folder: string): void {
  if (user === undefined) return;
  // -h: must not change the owner of a file that a symbolic link of that user points to.
  const chown = ['chown', '-h', `${user.uid}:${user.gid}`, '{}', '+'];
  try {
    execFileSync('find', [folder, '!', '-user', String(user.uid), '-exec', ...chown], { stdio: 'pipe' });
  } catch (error) {
    throw new StartError(`The owner of ${folder} cannot be changed to ${user.name}: ${messageOf(error)}`);
  }
}

/**
 * The command that runs a server as `user`, without any capability. `launch` gets the path by which the server opens
 * `folder`: below a closed home directory that is its working directory, which root enters before it changes the user.
 */
export function launchAs(user: ServerUser | undefined, folder: string, launch: (folder: string) => Launch): Launch {
  if (user === undefined) return launch(folder);
  const { command, args, env = process.env } = launch(isOpenToOthers(folder) ? folder : '/proc/self/cwd');
  const identity = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  return {
    command: 'setpriv',
    args: [...identity, '--inh-caps=-all', '--no-new-privs', '--', command, ...args],
    // The TMPDIR of root may be closed to that user.
    env: { ...env, TMPDIR: '/tmp' },
    cwd: folder,
  };
}
