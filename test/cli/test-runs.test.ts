import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { failureTable } from '../../src/cli/test/report.ts';
import { Stalls } from '../../src/cli/test/stall.ts';
import { eventually } from '../support/eventually.ts';

describe('the table of several runs', () => {
  test('lists every test that failed, the most frequent first, with each message once', () => {
    const once = { test: 'test/a.test.ts > once', message: 'expected 1 to be 2' };
    const twice = { test: 'test/b.test.ts > twice', message: 'late' };
    const runs = [
      { passed: 8, failures: [once, twice] },
      { passed: 10, failures: [] },
      { passed: 9, failures: [{ ...twice, message: 'later' }] },
    ];
    expect(failureTable(runs).split('\n')).toEqual([
      'failed  test                    message',
      '2 of 3  test/b.test.ts > twice  late | later',
      '1 of 3  test/a.test.ts > once   expected 1 to be 2',
    ]);
  });

  test('says that nothing failed', () => {
    expect(failureTable([{ passed: 3, failures: [] }])).toBe('No test failed in 1 run.');
  });
});

describe.runIf(process.platform === 'linux')('stalls', () => {
  let root: ChildProcess | undefined;
  let stalls: Stalls | undefined;

  afterEach(async () => {
    await stalls?.end();
    for (const pid of ours()) process.kill(pid, 'SIGKILL');
  });

  const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0];
  const childrenOf = (pid: number): number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const ours = () => (root?.pid === undefined ? [] : [...childrenOf(root.pid), root.pid]);

  async function startTwo(): Promise<{ parent: number; child: number }> {
    root = spawn('sh', ['-c', 'sleep 1000 & wait'], { stdio: 'ignore' });
    const parent = root.pid as number;
    const [child] = await eventually(() => {
      const found = childrenOf(parent);
      expect(found).toHaveLength(1);
      return found;
    });
    return { parent, child: child as number };
  }

  test('stop a process and its children again and again, and end with both running', async () => {
    const { parent, child } = await startTwo();
    stalls = new Stalls(parent);
    for (const state of ['T', 'S', 'T', 'S'])
      await eventually(() => expect([stateOf(parent), stateOf(child)]).toEqual([state, state]));
    await stalls.end();
    expect([stateOf(parent), stateOf(child)]).toEqual(['S', 'S']);
  });

  test('leave a process stopped that the test has stopped itself', async () => {
    const { parent, child } = await startTwo();
    process.kill(child, 'SIGSTOP');
    await eventually(() => expect(stateOf(child)).toBe('T'));
    stalls = new Stalls(parent);
    for (const state of ['T', 'S', 'T', 'S']) await eventually(() => expect(stateOf(parent)).toBe(state));
    await stalls.end();
    expect(stateOf(child)).toBe('T');
  });
});
