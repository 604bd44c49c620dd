import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

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
