import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Identifies a process in a file. The start time is needed because the system reuses process ids. */
export interface ProcessMark {
  pid: number;
  startedAt: string;
}

/** The start time of a process in the system's format; undefined if there is no such process. */
function startTimeOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)])
        .toString()
        .trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may contain spaces. After it: state, ppid, …, and the start time as 20th field.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : rest[18];
  } catch {
    return undefined;
  }
}

/** The mark of a process, with an empty start time if there is no such process. */
export function markOf(pid: number): ProcessMark {
  return { pid, startedAt: startTimeOf(pid) ?? '' };
}

/**
 * Whether the process of a mark is still running, and not another one with its id.
 *
 * @example
 * writeMark('/run/scanlog/edge.pid', process.pid);
 * const mark = readMark('/run/scanlog/edge.pid');
 * if (mark !== undefined && isAlive(mark)) process.kill(mark.pid);
 */
export const isAlive = ({ pid, startedAt }: ProcessMark) => startedAt !== '' && startTimeOf(pid) === startedAt;

/** The mark in a file; undefined if there is none, or it cannot be read. */
export function readMark(file: string): ProcessMark | undefined {
  try {
    const mark = JSON.parse(readFileSync(file, 'utf8'));
    return Number.isInteger(mark.pid) && typeof mark.startedAt === 'string' ? mark : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the mark of a running process. */
export function writeMark(file: string, pid: number): void {
  writeFileSync(file, JSON.stringify(markOf(pid)));
}
