import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';

describe('a process that steps back', () => {
  let child: ChildProcess | undefined;

  async function start({ ownSession }: { ownSession: boolean }): Promise<number> {
    const file = fileURLToPath(new URL('../../src/lib/step-back.ts', import.meta.url));
    const program = `(await import('${file}')).stepBack(); console.log('done'); setInterval(() => {}, 1000);`;
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const started = spawn(process.execPath, ['-e', program], { detached: ownSession, stdio: [...stdio] });
    child = started;
    if (started.stdout !== null) await once(started.stdout, 'data');
    return started.pid ?? 0;
  }

  afterEach(() => {
    child?.kill('SIGKILL');
  });

  test('gives way to other processes', async () => {
    expect(getPriority(await start({ ownSession: true }))).toBe(Math.max(5, getPriority()));
  });

  test('gives way to other sessions with one of its own, where the kernel weighs them', async () => {
    expect(niceOfSession(await start({ ownSession: true }))).toBe(5);
  });

  test('leaves the session of whoever started it alone', async () => {
    const before = niceOfSession(process.pid);
    expect(getPriority(await start({ ownSession: false }))).toBe(Math.max(5, getPriority()));
    expect(niceOfSession(process.pid)).toBe(before);
  });
});

/** That of the process itself on a kernel that does not weigh sessions. */
function niceOfSession(pid: number): number {
  const file = `/proc/${pid}/autogroup`;
  return existsSync(file) ? Number(/nice (-?\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) : getPriority(pid);
}
