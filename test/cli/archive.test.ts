import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { command } from '../support/command.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
const folder = mkdtempSync(join(tmpdir(), 'scanlog-archive-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

const archive = (...args: string[]) => command(['archive', ...args], { DATABASE_URL: database.url });

test.each([
  [['--older-than', '6 months', '--to', folder], '--older-than must be a duration such as 180d or 48h, not 6 months.'],
  [['--older-than', '180d', '--to', 'ftp://host/x'], '--to must be a folder, or s3://bucket/prefix.'],
])('refuses %j in one sentence', async (args, sentence) => {
  expect(await archive(...args)).toEqual({ code: 1, output: `scanlog: ${sentence}\n` });
});

test('prints as JSON what a run would move, and what it has moved', async () => {
  const to = join(folder, 'new', 'archive');
  const args = ['--older-than', '180d', '--to', to, '--json'];
  const planned = await archive(...args, '--dry-run');
  expect(existsSync(to)).toBe(false);
  const moved = await archive(...args);
  expect(existsSync(to)).toBe(true);
  expect([planned, moved].map(({ output }) => JSON.parse(output))).toEqual([
    { from: 1, to: 0, scans: 0, estimated_bytes: 0, waits_for: null },
    { up_to_position: 0, scans: 0, files: 0, bytes: 0, location: to, waits_for: null, leftovers: [] },
  ]);
});
