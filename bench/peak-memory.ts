import { readFileSync } from 'node:fs';
import { treeOf } from './process.ts';

const intervalMs = 250;

/** The largest process at its largest. */
export interface Peak {
  megabytes: number;
  /** The name under which it was watched. */
  process: string;
}

/** Watches the memory of processes and of all that they start, until `stop`. */
export function watchMemory(roots: () => { name: string; pid: number }[]): { stop(): Peak } {
  let peak: Peak = { megabytes: 0, process: '–' };
  const measure = () => {
    for (const { name, pid } of roots())
      for (const one of treeOf(pid)) {
        const megabytes = ownMemory(one);
        if (megabytes > peak.megabytes) peak = { megabytes, process: name };
      }
  };
  const timer = setInterval(measure, intervalMs);
  return {
    stop() {
      clearInterval(timer);
      measure();
      return peak;
    },
  };
}

/** Resident memory in MB, without the memory that Postgres' processes share; 0 if the process has ended. */
function ownMemory(pid: number): number {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return 0;
  }
  const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0);
  return (kilobytes('VmRSS') - kilobytes('RssShmem')) / 1024;
}
