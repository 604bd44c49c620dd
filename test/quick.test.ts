import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longFiles } from './support/durations.ts';
import { filesStartingProcesses } from './support/starting-processes.ts';

const root = join(import.meta.dirname, '..');

test('the table of durations has files that exist', () => {
  expect(longFiles.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('--quick leaves out files that start processes, themselves or by a helper, and no others', () => {
  const found = filesStartingProcesses(root);
  expect(found).toEqual(
    expect.arrayContaining(['test/cli/test-runs.test.ts', 'test/cli/up.test.ts', 'test/edge/privacy.test.ts']),
  );
  for (const file of ['api/get', 'cli/launcher', 'maintenance/erasure', 'webhooks/delivery'])
    expect(found).not.toContain(`test/${file}.test.ts`);
});
