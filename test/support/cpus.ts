import { spawnSync } from 'node:child_process';
import { machineCpus, withoutFirst } from '../../src/lib/leave-first-cpu.ts';

/** Whether a process with these CPUs can leave the first one: there is another one, and `taskset`. */
export const canLeaveFirstCpu = (allowed: string): boolean =>
  spawnSync('taskset', ['-V']).status === 0 && withoutFirst(allowed, machineCpus()) !== undefined;
