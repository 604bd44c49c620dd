import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesStartingProcesses } from './support/starting-processes.ts';

test('--quick leaves out files that start processes, themselves or by a helper, and no others', () => {
  const found = filesStartingProcesses(join(import.meta.dirname, '..'));
  expect(found).toEqual(
    expect.arrayContaining(['test/cli/test-runs.test.ts', 'test/cli/up.test.ts', 'test/edge/privacy.test.ts']),
  );
  for (const file of ['api/get', 'cli/launcher', 'maintenance/erasure', 'webhooks/delivery'])
    expect(found).not.toContain(`test/${file}.test.ts`);
});
