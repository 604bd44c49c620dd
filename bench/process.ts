import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { childrenOf } from '../src/stack/processes.ts';

/** Statistics of a running process from /proc. */

const ticksPerSecond = 100;

/** CPU time of all threads. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program's name, in parentheses, may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Resident memory in MB. */
export const residentMemory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Memory in MB of a process alone, without the program, which all processes that run it share. */
export function unsharedMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) + Number(/RssShmem:\s+(\d+) kB/.exec(status)?.[1])) / 1024;
}

/**
 * The number of open files and sockets, without those in /proc/<pid>/task: native ClickHouse keeps three of them open
 * for each thread that has worked on a query, until the thread ends.
 */
export const handles = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((handle) => !/^\/proc\/\d+\/task\//.test(targetOf(pid, handle))).length;

/** What an open handle of a process leads to. */
export function targetOf(pid: number, handle: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${handle}`);
  } catch {
    // Closed since it was listed.
    return '';
  }
}

export const threads = (pid: number): number => readdirSync(`/proc/${pid}/task`).length;

/** A process and all that it has started, directly or not. */
export const treeOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(treeOf)];

/** CPU time of a process and all that it has started and that still run. */
export const cpuSecondsOfTree = (pid: number): number => treeOf(pid).reduce((sum, one) => sum + cpuSeconds(one), 0);

/** Memory of a process and all that it has started, in MB; what they share counts once. */
export const memoryOfTree = (pid: number): number => treeOf(pid).reduce((sum, one) => sum + proportionalMemory(one), 0);

const proportionalMemory = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;
