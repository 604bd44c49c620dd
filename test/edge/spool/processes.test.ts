import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { SpoolInUse, SpoolUnusable } from '../../../src/edge/spool/spool.ts';
import { drain, numbered, range, spoolFolder } from './spool-support.ts';

const folder = spoolFolder();
const script = join(import.meta.dirname, 'child.ts');
let children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
});

interface Line {
  outcome: string;
  number: number;
}

/** Runs child.ts and calls `onLine` for each line that it prints. */
function run(task: string, { number = 1, command = [process.execPath], onLine = (_: Line) => {} } = {}) {
  const [program = '', ...before] = command;
  const child = spawn(program, [...before, script, task, folder.at(), String(number)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const printed: Line[] = [];
  lines.on('line', (line) => {
    const [outcome = '', number] = line.split(' ');
    printed.push({ outcome, number: Number(number) });
    onLine({ outcome, number: Number(number) });
  });
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]);
  return {
    child,
    printed,
    ended,
    numbersOf: (outcome: string) => printed.flatMap((one) => (one.outcome === outcome ? [one.number] : [])),
  };
}

describe('kill -9', () => {
  it('neither loses nor duplicates acknowledged records', async () => {
    let next = 1;
    let taken = 0;
    for (const _ of range(1, 6)) {
      const from = next;
      let acknowledged = 0;
      const killAfter = 50 + Math.floor(Math.random() * 1500);
      const { child, ended } = run('append-for-ever', {
        number: from,
        onLine({ outcome, number }) {
          if (outcome === 'taken') taken = Math.max(taken, number);
          else if (++acknowledged === killAfter) child.kill('SIGKILL');
          if (outcome === 'stored') next = Math.max(next, number + 1);
        },
      });
      await ended;
      expect(acknowledged).toBeGreaterThanOrEqual(killAfter);

      const spool = await folder.open({ segmentBytes: 50_000 });
      const found = await drain(spool);
      const [first = 0] = found;
      const last = found.at(-1) ?? 0;
      expect(found, `killed after ${killAfter}`).toEqual(range(first, last));
      expect(first).toBeLessThanOrEqual(taken + 1);
      expect(last).toBeGreaterThanOrEqual(next - 1);
      await spool.close();
      expect(folder.events.filter(({ kind }) => kind !== 'spool_tail_torn')).toEqual([]);
      taken = last;
      next = last + 1;
    }
  });
});

describe('a file size limit of the system', () => {
  it('refuses the record that exceeds it, and all others are stored', async () => {
    // The kernel writes a part and then returns EFBIG: the same code path as a full disk, without root.
    const limited = ['sh', '-c', 'ulimit -f 64 && exec "$@"', 'sh', process.execPath];
    const { ended, numbersOf } = run('append-all', { number: 100, command: limited });
    const [[code]] = await ended;
    expect(code).toBe(0);
    expect(numbersOf('refused').length).toBeGreaterThan(5);
    expect([...numbersOf('refused'), ...numbersOf('stored')].sort((a, b) => a - b)).toEqual(range(1, 100));

    const spool = await folder.open();
    expect(folder.events).toEqual([]);
    expect(await drain(spool)).toEqual(numbersOf('stored'));
  });
});

describe('a folder in use', () => {
  const locks = () => readdirSync(folder.at()).filter((name) => name.endsWith('.lock'));

  it('cannot be opened by this or another process until it is closed', async () => {
    const spool = await folder.open();
    const opening = folder.open();
    await expect(opening).rejects.toThrow(`in use by process ${process.pid}`);
    await expect(opening).rejects.toBeInstanceOf(SpoolInUse);
    const { ended, printed } = run('append-all');
    const [[code]] = await ended;
    expect(code).not.toBe(0);
    expect(printed).toEqual([]);
    await spool.append(numbered(1));
    await spool.close();
    expect(locks()).toEqual([]);
    expect(await drain(await folder.open())).toEqual([1]);
  });

  it('must be a folder', async () => {
    const opening = folder.open({ folder: script });
    await expect(opening).rejects.toThrow(`The spool ${script} cannot be used`);
    await expect(opening).rejects.toBeInstanceOf(SpoolUnusable);
  });

  it('is refused while its process is alive, and available after it was killed', async () => {
    const opened = Promise.withResolvers<void>();
    const { child, ended } = run('hold', { onLine: () => opened.resolve() });
    await opened.promise;
    await expect(folder.open()).rejects.toThrow(`in use by process ${child.pid}`);
    expect(locks()).toHaveLength(1);
    child.kill('SIGKILL');
    await ended;
    const spool = await folder.open();
    await spool.append(numbered(1));
    expect(locks()).toHaveLength(1);
    expect(await drain(spool)).toEqual([1]);
  });
});
