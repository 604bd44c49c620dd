import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** A process as it is remembered in a file: the id alone could by then be somebody else's. */
export interface ProcessMark {
  pid: number;
  startedAt: string;
}

/** When the process with this id started, in the machine's own words; nothing if there is none. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)])
        .toString()
        .trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may itself contain spaces. Behind it: state, ppid, …, start time as the 20th.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : rest[18];
  } catch {
    return undefined;
  }
}

export function markOf(pid: number): ProcessMark {
  return { pid, startedAt: startOf(pid) ?? '' };
}

export const isAlive = ({ pid, startedAt }: ProcessMark) => startedAt !== '' && startOf(pid) === startedAt;

export function readMark(file: string): ProcessMark | undefined {
  try {
    const mark = JSON.parse(readFileSync(file, 'utf8'));
    return Number.isInteger(mark.pid) && typeof mark.startedAt === 'string' ? mark : undefined;
  } catch {
    return undefined;
  }
}

export function writeMark(file: string, pid: number): void {
  writeFileSync(file, JSON.stringify(markOf(pid)));
}

export async function until(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Asks a process to end, and makes it end when it does not within `graceMs`. */
export async function end(mark: ProcessMark, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const send = (name: NodeJS.Signals) => {
    try {
      process.kill(mark.pid, name);
    } catch {
      // It ended by itself in the meantime.
    }
  };
  if (!isAlive(mark)) return;
  send(signal);
  if (await until(() => !isAlive(mark), graceMs)) return;
  send('SIGKILL');
  await until(() => !isAlive(mark), 5_000);
}

/** Ends what an earlier run, killed before it could clean up, has left behind. */
export async function endLeftover(pidFile: string, signal: NodeJS.Signals): Promise<void> {
  const mark = readMark(pidFile);
  if (mark !== undefined) await end(mark, signal, 10_000);
  rmSync(pidFile, { force: true });
}

/** A port on loopback that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
