import { readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** A tenth of the CPU share of a process with normal priority: enough for analytics to advance on a busy machine. */
const usualNiceness = 10;
const groupFile = '/proc/self/autogroup';

/**
 * Lowers the priority of this process below the priority of redirects. Call it before anything that starts threads: they
 * inherit it. A priority that is already lower stays, since only root may raise it.
 */
export function lowerPriority(niceness = usualNiceness): void {
  setPriority(Math.max(niceness, getPriority()));
  lowerSession(niceness);
}

/**
 * With autogroups, Linux shares the CPU between sessions, and priorities count only within one: a server in a session of its own
 * would get as much as all redirects together. Kernels without them have no such file.
 */
function lowerSession(niceness: number): void {
  try {
    const current = Number(/nice (-?\d+)/.exec(readFileSync(groupFile, 'utf8'))?.[1]);
    if (isSessionLeader() && current < niceness) writeFileSync(groupFile, String(niceness));
  } catch {}
}

/** Others in the session of its leader were started by it. */
function isSessionLeader(): boolean {
  // The name, which is the second field, may have blanks and parentheses.
  const [, , , session] = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return session === String(process.pid);
}
