import { spawnSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const file = fileURLToPath(new URL('../../src/lib/lower-priority.ts', import.meta.url));

test('a process lowers its priority, and never raises it', () => {
  const program = `
    const { lowerPriority } = await import('${file}');
    const { getPriority, setPriority } = await import('node:os');
    lowerPriority();
    const lowered = getPriority();
    setPriority(15);
    lowerPriority();
    console.log(JSON.stringify([lowered, getPriority()]));`;
  const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual([Math.max(5, getPriority()), 15]);
});
