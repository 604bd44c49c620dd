import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { SpoolInUse, SpoolUnusable } from '../../src/edge/spool.ts';
import { drain, numbered, range, spoolFolder } from './spool-support.ts';

const folder = spoolFolder();
const script = join(import.meta.dirname, 'spool-child.ts');
let children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
});

interface Said {
  word: string;
  number: number;
}

/** Runs the script beside this file; `hear` gets each line that it prints. */
function run(task: string, { number = 1, command = [process.execPath], hear = (_: Said) => {} } = {}) {
  const [program = '', ...before] = command;
  const child = spawn(program, [...before, script, task, folder.at(), String(number)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const said: Said[] = [];
  lines.on('line', (line) => {
    const [word = '', about] = line.split(' ');
    said.push({ word, number: Number(about) });
    hear({ word, number: Number(about) });
  });
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]);
  return {
    child,
    said,
    ended,
    heard: (word: string) => said.flatMap((one) => (one.word === word ? [one.number] : [])),
  };
}

describe('kill -9', () => {
  it('loses nothing that was acknowledged and doubles nothing, at any moment', { timeout: 60_000 }, async () => {
    let next = 1;
    let taken = 0;
    for (const _ of range(1, 6)) {
      const from = next;
      let acknowledged = 0;
      const killAfter = 50 + Math.floor(Math.random() * 1500);
      const { child, ended } = run('append-for-ever', {
        number: from,
        hear({ word, number }) {
          if (word === 'taken') taken = Math.max(taken, number);
          else if (++acknowledged === killAfter) child.kill('SIGKILL');
          if (word === 'stored') next = Math.max(next, number + 1);
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

describe('a limit that the system sets', () => {
  it('stops a write in its middle: that record is refused, all others are there', async () => {
    // The kernel takes a part of the write at the limit, then answers EFBIG: the same path as a full disk, without root.
    const limited = ['sh', '-c', 'ulimit -f 64 && exec "$@"', 'sh', process.execPath];
    const { ended, heard } = run('append-all', { number: 100, command: limited });
    const [[code]] = await ended;
    expect(code).toBe(0);
    expect(heard('refused').length).toBeGreaterThan(5);
    expect([...heard('refused'), ...heard('stored')].sort((a, b) => a - b)).toEqual(range(1, 100));

    const spool = await folder.open();
    expect(folder.events).toEqual([]);
    expect(await drain(spool)).toEqual(heard('stored'));
  });
});

describe('a folder in use', () => {
  const locks = () => readdirSync(folder.at()).filter((name) => name.endsWith('.lock'));

  it('cannot be opened again, by this process or by another, until it is closed', async () => {
    const spool = await folder.open();
    const opening = folder.open();
    await expect(opening).rejects.toThrow(`in use by process ${process.pid}`);
    await expect(opening).rejects.toBeInstanceOf(SpoolInUse);
    const { ended, said } = run('append-all');
    const [[code]] = await ended;
    expect(code).not.toBe(0);
    expect(said).toEqual([]);
    await spool.append(numbered(1));
    await spool.close();
    expect(locks()).toEqual([]);
    expect(await drain(await folder.open())).toEqual([1]);
  });

  it('has to be a folder', async () => {
    const opening = folder.open({ folder: script });
    await expect(opening).rejects.toThrow(`The spool ${script} cannot be used`);
    await expect(opening).rejects.toBeInstanceOf(SpoolUnusable);
  });

  it('is refused while another process lives, and taken over once it was killed', async () => {
    const opened = Promise.withResolvers<void>();
    const { child, ended } = run('hold', { hear: () => opened.resolve() });
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
