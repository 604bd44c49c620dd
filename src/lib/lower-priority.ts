import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { codeOf } from './errors.ts';

/** A tenth of the CPU share of a process with normal priority: enough for analytics to advance on a busy machine. */
const usualNiceness = 10;

/**
 * Lowers the priority of a process, without `pid` of this one, below the priority of redirects. Threads and processes that it
 * starts from then on inherit it. A priority that is already lower stays, since only root may raise it. False if it must be tried
 * again: from a user other than root, Linux takes one change of a session in 100 ms.
 */
export function lowerPriority(pid = process.pid, niceness = usualNiceness): boolean {
  for (const thread of threadsOf(pid)) lowerThread(thread, niceness);
  return lowerSession(pid, niceness);
}

function lowerThread(thread: number, niceness: number): void {
  try {
    setPriority(thread, Math.max(niceness, getPriority(thread)));
  } catch {
    // It has ended meanwhile.
  }
}

/** Linux has a priority for each thread; elsewhere, the process has one. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

/**
 * With autogroups, Linux shares the CPU between sessions, and priorities count only within one: a server in a session of its own
 * would get as much as all redirects together. Kernels without them have no such file.
 */
function lowerSession(pid: number, niceness: number): boolean {
  const file = `/proc/${pid}/autogroup`;
  try {
    const current = Number(/nice (-?\d+)/.exec(readFileSync(file, 'utf8'))?.[1]);
    if (isSessionLeader(pid) && current < niceness) writeFileSync(file, String(niceness));
    return true;
  } catch (error) {
    return codeOf(error) !== 'EAGAIN';
  }
}

/** Others in the session of its leader were started by it. */
function isSessionLeader(pid: number): boolean {
  // The name, which is the second field, may have blanks and parentheses.
  const [, , , session] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return session === String(pid);
}
