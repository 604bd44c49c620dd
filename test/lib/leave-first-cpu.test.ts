import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allowedCpus, leaveFirstCpu, machineCpus, withoutFirst } from '../../src/lib/leave-first-cpu.ts';
import { canLeaveFirstCpu } from '../support/cpus.ts';
import { eventually } from '../support/eventually.ts';

test.each([
  ['0-3', '0-3', [1, 2, 3]],
  ['0-2,6', '0-7', [1, 2, 6]],
  ['4-5', '4-5', [5]],
  // It has left the first one already, or was started without it.
  ['1-3', '0-3', undefined],
  // There is only one.
  ['0', '0', undefined],
  ['0', '0-3', undefined],
  // Systems other than Linux.
  ['', '', undefined],
])('of the CPUs %s on a machine with %s, a process keeps all but the first', (allowed, machine, others) => {
  expect(withoutFirst(allowed, machine)).toEqual(others);
});

describe('leaveFirstCpu()', () => {
  let other: ChildProcess & { pid: number };
  beforeEach(async () => {
    other = spawn('sleep', ['1000']) as typeof other;
    await once(other, 'spawn');
  });
  afterEach(async () => {
    if (other.exitCode !== null || other.signalCode !== null) return;
    other.kill();
    await once(other, 'exit');
  });

  test('another process leaves the first CPU', async () => {
    const before = allowedCpus(other.pid);
    const isPossible = canLeaveFirstCpu(before);
    leaveFirstCpu(other.pid);
    await eventually(() => {
      const after = allowedCpus(other.pid);
      expect(after !== before).toBe(isPossible);
      if (isPossible) expect(withoutFirst(after, machineCpus())).toBeUndefined();
    });
  });

  test('a process that has ended is passed over', async () => {
    other.kill();
    await once(other, 'exit');
    expect(() => leaveFirstCpu(other.pid)).not.toThrow();
  });
});
