import { closeSync, openSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../lib/errors.ts';
import { isAlive, markOf, type ProcessMark } from '../lib/process-mark.ts';

/** A process's own lock needs no file to tell: after a reboot an earlier life may have left one of the same name. */
const heldHere = new Set<string>();

const nameOf = ({ pid, startedAt }: ProcessMark) => `${pid}-${encodeURIComponent(startedAt)}.lock`;

function holderOf(name: string): ProcessMark | undefined {
  const [, pid, startedAt] = /^(\d+)-(.+)\.lock$/.exec(name) ?? [];
  return pid && startedAt ? { pid: Number(pid), startedAt: decodeURIComponent(startedAt) } : undefined;
}

/** Another process, or another part of this one, has the spool. */
export class SpoolInUse extends StartError {
  constructor(folder: string, pid: number) {
    super(`The spool ${folder} is in use by process ${pid}.`);
  }
}

/**
 * Takes a folder for this process, or throws `SpoolInUse` when a living process has it. Everyone who wants it puts down a file of
 * its own first and looks for others after: of two at once at least one sees the other, however they interleave, and a
 * file of the dead can be removed without asking whether somebody else has just replaced it.
 */
export function lockFolder(folder: string): () => void {
  const path = realpathSync(folder);
  const mine = nameOf(markOf(process.pid));
  if (heldHere.has(path)) throw new SpoolInUse(folder, process.pid);
  const file = join(path, mine);
  closeSync(openSync(file, 'w', 0o600));
  heldHere.add(path);
  const release = () => {
    rmSync(file, { force: true });
    heldHere.delete(path);
  };
  for (const name of readdirSync(path)) {
    const holder = holderOf(name);
    if (holder === undefined || name === mine) continue;
    if (isAlive(holder)) {
      release();
      throw new SpoolInUse(folder, holder.pid);
    }
    rmSync(join(path, name), { force: true });
  }
  return release;
}
