import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { Sql } from '../../src/lib/sql.ts';
import { archiveScans } from '../../src/maintenance/archive.ts';
import { eventually } from './eventually.ts';

/** Small row groups, so that few scans fill several of them. */
const positionsPerBlock = 16;

/** A folder that is removed after the tests. Call it before `useService`, which verifies the files at its end. */
export function useArchiveFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-archive-test-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Moves all scans of a log to files with small row groups, once the projections have applied them. */
export async function archiveAll(sql: Sql, target: string, positionsPerFile = 1024): Promise<void> {
  const sizes = { positionsPerFile, positionsPerBlock };
  const before = new Date(Date.now() + 86_400_000);
  await eventually(async () => {
    await archiveScans({ sql, target, before, now: new Date(), sizes });
    const [{ left }] = await sql<[{ left: number }]>`SELECT count(*) AS left FROM scans`;
    expect(left, 'scans that are not archived').toBe(0);
  });
}
