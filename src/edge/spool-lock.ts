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

/**
 * Takes a folder for this process, or throws when another one that lives has it. Everyone who wants it puts down a file of
 * its own first and looks for others after: of two at once at least one sees the other, however they interleave, and a
 * file of the dead can be removed without asking whether somebody else has just replaced it.
 */
export function lockFolder(folder: string): () => void {
  const path = realpathSync(folder);
  const mine = nameOf(markOf(process.pid));
  const taken = (pid: number) => new StartError(`The spool ${folder} is in use by process ${pid}.`);
  if (heldHere.has(path)) throw taken(process.pid);
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
      throw taken(holder.pid);
    }
    rmSync(join(path, name), { force: true });
  }
  return release;
}
