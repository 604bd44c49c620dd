import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { failureTable } from '../../src/cli/test/report.ts';
import { RunFolders } from '../../src/cli/test/run-folders.ts';
import { Stalls } from '../../src/cli/test/stall.ts';
import { eventually } from '../support/eventually.ts';
import { secondsLeft } from '../support/time-left.ts';

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

describe('the time that is left', () => {
  const waiting = (expectedSeconds: number) => ({ expectedSeconds, ranSeconds: undefined, isDone: false });
  const running = (expectedSeconds: number, ranSeconds: number) => ({ expectedSeconds, ranSeconds, isDone: false });
  const done = (expectedSeconds: number, ranSeconds: number) => ({ expectedSeconds, ranSeconds, isDone: true });
  const many = Array.from({ length: 100 }, () => waiting(10));

  test('is what the table says, from the beginning, also before the first file has ended', () => {
    expect(secondsLeft([waiting(100), waiting(100), ...many], 4)).toBe(300);
    expect(secondsLeft([running(100, 40), running(100, 40), ...many], 4)).toBe(280);
    expect(secondsLeft([done(100, 100), done(100, 100), ...many], 4)).toBe(250);
  });

  test('follows the pace of the machine', () => {
    const half = Array.from({ length: 100 }, () => done(10, 20));
    expect(secondsLeft([...half, ...many], 4)).toBeCloseTo(473, 0);
    expect(secondsLeft([running(100, 300), ...many], 4)).toBeGreaterThan(250);
  });

  test('is at least the time of the longest file, and none at the end', () => {
    expect(secondsLeft([running(100, 10), waiting(20)], 4)).toBe(90);
    expect(secondsLeft([done(100, 80)], 4)).toBe(0);
  });
});

/** Undefined if there is no such process. */
function stateOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0];
  } catch {
    return undefined;
  }
}

describe.runIf(process.platform === 'linux')('stalls', () => {
  let root: ChildProcess | undefined;
  let stalls: Stalls | undefined;

  afterEach(async () => {
    await stalls?.end();
    for (const pid of ours()) process.kill(pid, 'SIGKILL');
  });

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

describe.runIf(process.platform === 'linux')('a run that a signal ends', () => {
  const isRunning = (pid: number) => ![undefined, 'Z'].includes(stateOf(pid));

  test('leaves neither processes nor folders, also of a process that has left its parent, and of servers', async () => {
    const folders = new RunFolders();
    const env = { ...process.env, ...folders.environment };
    const child = spawn('sh', ['-c', 'setsid sleep 1000 & echo $!; exec sleep 1000'], { env });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const servers = Object.values(folders.environment).map((cwd) => spawn('sleep', ['1000'], { cwd, stdio: 'ignore' }));
    const other = spawn('sleep', ['1000'], { stdio: 'ignore' });
    const pids = [child.pid as number, Number(line), ...servers.map(({ pid }) => pid as number)];
    try {
      expect(pids.map(isRunning)).toEqual([true, true, true, true]);
      folders.killProcesses();
      await eventually(() => expect(pids.map(isRunning)).toEqual([false, false, false, false]));
      expect(isRunning(other.pid as number)).toBe(true);
    } finally {
      other.kill('SIGKILL');
      folders.remove();
    }
    expect(Object.values(folders.environment).filter((folder) => existsSync(folder))).toEqual([]);
  });
});
