import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { codeOf } from './errors.ts';
import { systemTimers, type Timers } from './timers.ts';

/** A tenth of the CPU share of a process with normal priority: enough for analytics to advance on a busy machine. */
const usualNiceness = 10;
/** Longer than Linux makes users other than root wait after any change of a session. */
export const nextSessionMs = 150;

interface LowerOptions {
  lower?(): boolean;
  timers?: Pick<Timers, 'sleep'>;
}

/** Lowers the priority of this process, at once or as soon as Linux accepts it: `lowerPriorityOf`. */
export async function lowerPriority(
  niceness = usualNiceness,
  { lower = () => lowerPriorityOf(process.pid, niceness), timers = systemTimers }: LowerOptions = {},
): Promise<void> {
  while (!lower()) await timers.sleep(nextSessionMs, { ref: false });
}

/**
 * Lowers the priority of a process below the priority of redirects. Threads and processes that it starts from then on inherit it. A
 * priority that is already lower stays, since only root may raise it. False if it must be tried again: Linux refuses users other
 * than root for 100 ms after any session of the machine was changed.
 */
export function lowerPriorityOf(pid: number, niceness = usualNiceness): boolean {
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
