import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { lowerPriority } from '../../src/lib/lower-priority.ts';
import { manualTimers } from '../support/timers.ts';

const file = fileURLToPath(new URL('../../src/lib/lower-priority.ts', import.meta.url));

/** What a program prints after `lowerPriority` is imported. */
function printed(program: string, { detached = false } = {}): unknown {
  const script = `const { lowerPriority } = await import('${file}');\n${program}`;
  const command = [process.execPath, '-e', script];
  const [name = '', ...args] = detached ? ['setsid', '--wait', ...command] : command;
  const { stdout, stderr } = spawnSync(name, args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test('a process lowers its priority, and never raises it', () => {
  const priorities = printed(`
    const { getPriority, setPriority } = await import('node:os');
    lowerPriority();
    const lowered = getPriority();
    setPriority(15);
    lowerPriority();
    console.log(JSON.stringify([lowered, getPriority()]));`);
  expect(priorities).toEqual([Math.max(10, getPriority()), 15]);
});

test('threads that run already get the lower priority, too', () => {
  const priorities = printed(`
    const { getPriority } = await import('node:os');
    const { readdirSync } = await import('node:fs');
    // On systems other than Linux, threads have no priorities of their own.
    const threads = () => process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
    const before = threads();
    lowerPriority();
    // One that has ended meanwhile has none.
    const after = threads();
    console.log(JSON.stringify(before.filter((thread) => after.includes(thread)).map((thread) => getPriority(thread))));`);
  expect(new Set(priorities as number[])).toEqual(new Set([Math.max(10, getPriority())]));
});

const groupOf = `
  const { existsSync, readFileSync } = await import('node:fs');
  const group = () => existsSync('/proc/self/autogroup')
    ? Number(readFileSync('/proc/self/autogroup', 'utf8').split('nice ')[1]) : null;
  const before = group();
  lowerPriority();
  console.log(JSON.stringify([before, group()]));`;

test('the leader of a session lowers the session, where Linux shares the CPU between sessions', () => {
  const [, after] = printed(groupOf, { detached: true }) as [number | null, number | null];
  expect(after).toBe(existsSync('/proc/self/autogroup') ? 10 : null);
});

test('a session that Linux does not let it change yet is lowered later', async () => {
  const timers = manualTimers();
  const results = [false, false, true];
  const lowering = lowerPriority(10, { lower: () => results.shift() ?? false, timers });
  expect(results, 'tried at once').toHaveLength(2);
  await timers.next();
  await timers.next();
  await lowering;
  expect([results, timers.waiting]).toEqual([[], 0]);
});

test('sessions that start at the same time are all lowered, whoever runs them', async () => {
  const script = `
    const { lowerPriority } = await import('${file}');
    const { existsSync, readFileSync } = await import('node:fs');
    await lowerPriority();
    console.log(existsSync('/proc/self/autogroup') ? readFileSync('/proc/self/autogroup', 'utf8').split('nice ')[1].trim() : '10');`;
  const sessions = Array.from({ length: 3 }, () => Bun.spawn(['setsid', '--wait', process.execPath, '-e', script]));
  const printed = await Promise.all(sessions.map(({ stdout }) => new Response(stdout).text()));
  expect(printed).toEqual(['10\n', '10\n', '10\n']);
});

test('another process of a session leaves the session as it is', () => {
  const [before, after] = printed(groupOf) as [number | null, number | null];
  expect(after).toBe(before);
});
