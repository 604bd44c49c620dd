import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { archive } from '../../src/cli/archive.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
const folder = mkdtempSync(join(tmpdir(), 'scanlog-archive-cli-'));
const data = join(folder, 'none');

beforeAll(() => {
  vi.stubEnv('DATABASE_URL', database.url);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test.each([
  [{ olderThan: '6 months', to: folder }, '--older-than must be a duration such as 180d or 48h, not 6 months.'],
  [{ olderThan: '180d', to: 'ftp://host/x' }, '--to must be a folder, or s3://bucket/prefix.'],
])('refuses %o in one sentence', async (options, message) => {
  await expect(archive({ ...options, data })).rejects.toThrow(message);
});

test('prints as JSON what a run would move, and what it has moved', async () => {
  const printed: string[] = [];
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  const to = join(folder, 'new', 'archive');
  try {
    await archive({ olderThan: '180d', to, dryRun: true, json: true, data });
    expect(existsSync(to)).toBe(false);
    await archive({ olderThan: '180d', to, json: true, data });
    expect(existsSync(to)).toBe(true);
  } finally {
    stdout.mockRestore();
  }
  expect(printed.map((text) => JSON.parse(text))).toEqual([
    { from: 1, to: 0, scans: 0, estimated_bytes: 0, waits_for: null },
    { up_to_position: 0, scans: 0, files: 0, bytes: 0, location: to, waits_for: null, leftovers: [] },
  ]);
});
