import { closeSync, openSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../lib/errors.ts';
import { isAlive, markOf, type ProcessMark } from '../../lib/process-mark.ts';

/** Folders locked by this process. Its lock file does not prove that: an earlier process may have left the same name. */
const lockedFolders = new Set<string>();

const nameOf = ({ pid, startedAt }: ProcessMark) => `${pid}-${encodeURIComponent(startedAt)}.lock`;

function holderOf(name: string): ProcessMark | undefined {
  const [, pid, startedAt] = /^(\d+)-(.+)\.lock$/.exec(name) ?? [];
  return pid && startedAt ? { pid: Number(pid), startedAt: decodeURIComponent(startedAt) } : undefined;
}

/** Another process, or another spool in this one, uses the folder. */
export class SpoolInUse extends StartError {
  constructor(folder: string, pid: number) {
    super(`The spool ${folder} is in use by process ${pid}.`);
  }
}

/**
 * Locks a folder for this process and returns the function that unlocks it. Throws `SpoolInUse` if a live process has it.
 *
 * Each process first creates a lock file named after itself and then looks for others. Of two concurrent processes, at
 * least one sees the other. A dead process's file can be removed without a race, because no other process uses its name.
 */
export function lockFolder(folder: string): () => void {
  const path = realpathSync(folder);
  const ownName = nameOf(markOf(process.pid));
  if (lockedFolders.has(path)) throw new SpoolInUse(folder, process.pid);
  const file = join(path, ownName);
  closeSync(openSync(file, 'w', 0o600));
  lockedFolders.add(path);
  const release = () => {
    rmSync(file, { force: true });
    lockedFolders.delete(path);
  };
  for (const name of readdirSync(path)) {
    const holder = holderOf(name);
    if (holder === undefined || name === ownName) continue;
    if (isAlive(holder)) {
      release();
      throw new SpoolInUse(folder, holder.pid);
    }
    rmSync(join(path, name), { force: true });
  }
  return release;
}
