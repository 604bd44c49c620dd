import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

describe('a process that steps back, in a session of its own', () => {
  const file = fileURLToPath(new URL('../../src/lib/step-back.ts', import.meta.url));
  const program = `(await import('${file}')).stepBack(); console.log('done'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-e', program], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = child.pid ?? 0;

  beforeAll(async () => {
    await once(child.stdout, 'data');
  });
  afterAll(() => {
    child.kill('SIGKILL');
  });

  test('gives way to other processes', () => {
    expect(getPriority(pid)).toBe(Math.max(5, getPriority()));
  });

  test('gives way to other sessions, where the kernel weighs them', () => {
    expect(niceOfSession(pid)).toBe(5);
  });
});

/** That of the process itself on a kernel that does not weigh sessions. */
function niceOfSession(pid: number): number {
  const file = `/proc/${pid}/autogroup`;
  return existsSync(file) ? Number(/nice (-?\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) : getPriority(pid);
}
