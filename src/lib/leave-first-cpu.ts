import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Keeps a process with all its threads, without `pid` this one, off the first CPU, so that redirects find one free. A low priority
 * is not enough: Linux lets a process that is running go on for some milliseconds before it gives the CPU to one that wakes up. On
 * a machine with one CPU, and on systems without `taskset`, nothing happens.
 */
export function leaveFirstCpu(pid = process.pid): void {
  const others = withoutFirst(allowedCpus(pid), machineCpus());
  // The process may have ended meanwhile.
  if (others !== undefined) execFile('taskset', ['-a', '-c', '-p', others.join(), String(pid)], () => {});
}

/** The CPUs of `allowed` without the first of the machine; undefined if there is nothing to change. */
export function withoutFirst(allowed: string, machine: string): number[] | undefined {
  const cpus = cpusIn(allowed);
  const [first] = cpusIn(machine);
  const others = cpus.filter((cpu) => cpu !== first);
  return others.length === 0 || others.length === cpus.length ? undefined : others;
}

/** The CPUs that a process may use, such as `0-3,6`; empty if it has ended, and on systems other than Linux. */
export const allowedCpus = (pid: number): string =>
  /^Cpus_allowed_list:\s*(\S+)$/m.exec(textIn(`/proc/${pid}/status`))?.[1] ?? '';

/** The CPUs of the container or the machine. Not those of this process, which may be a part that was started without the first. */
export function machineCpus(): string {
  const files = [
    '/sys/fs/cgroup/cpuset.cpus.effective',
    '/sys/fs/cgroup/cpuset/cpuset.effective_cpus',
    '/sys/devices/system/cpu/online',
  ];
  return files.map((file) => textIn(file).trim()).find((text) => text !== '') ?? '';
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** @example cpusIn('0-2,6') // [0, 1, 2, 6] */
function cpusIn(list: string): number[] {
  if (list === '') return [];
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
}
