import { readdirSync, readFileSync } from 'node:fs';

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

/** Files and sockets that it has open. */
export const handles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
