import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What /proc tells of a process that runs. */

const ticksPerSecond = 100;

/** Time that it and its threads have had a core for. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** In MB. */
export const residentMemory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/**
 * Files and sockets that it has open, except the statistics of its own threads in /proc: native ClickHouse keeps three
 * of them open for each thread that has worked on a query, for as long as the thread lives.
 */
export const handles = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((handle) => !/^\/proc\/\d+\/task\//.test(targetOf(pid, handle))).length;

function targetOf(pid: number, handle: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${handle}`);
  } catch {
    // Closed since it was listed.
    return '';
  }
}

export const threads = (pid: number): number => readdirSync(`/proc/${pid}/task`).length;

export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
