import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadCursors } from '../../src/feed/cursor.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { append } from '../../src/log/append.ts';
import { connect } from '../../src/log/connect.ts';
import { headOfLog } from '../../src/log/read.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { checkBackup, restoreBackup } from '../../src/maintenance/restore.ts';
import { createDatabase } from '../support/database.ts';
import { opened } from '../support/events.ts';

const owner = { account: 'acct_1', mode: 'live' as const };
const folder = mkdtempSync(join(tmpdir(), 'scanlog-branches-'));
const cleanup: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const clean of cleanup) await clean();
  rmSync(folder, { recursive: true });
});

const openAccounts = async (sql: Sql, count: number) => {
  for (let i = 0; i < count; i++)
    await sql.begin((tx) => append(tx, [opened()], { actor: 'operator', now: new Date() }));
};

async function newDatabase(): Promise<{ url: string; sql: Sql }> {
  const { url, sql, drop } = await createDatabase();
  cleanup.push(drop);
  return { url, sql };
}

async function restore(file: string): Promise<Sql> {
  const { url, sql } = await newDatabase();
  await sql.end();
  const restored = connect(url, { max: 4, name: 'scanlog-cli' });
  await restoreBackup(restored, await checkBackup(file));
  cleanup.unshift(() => restored.end());
  return restored;
}

test('a cursor continues where the logs part after two restores at the same position', async () => {
  const { sql } = await newDatabase();
  await openAccounts(sql, 2);
  const original = join(folder, 'original');
  await writeBackup(sql, original, { now: new Date() });
  // Branch numbers are random: the order of the restores must not follow from them, so both orders occur.
  const orders = new Set<boolean>();
  for (let run = 0; orders.size < 2; run++) {
    const first = await restore(original);
    const parted = await headOfLog(first);
    const again = join(folder, `again-${run}`);
    await writeBackup(first, again, { now: new Date() });
    await openAccounts(first, 3);
    const cursor = (await loadCursors(first)).seal(owner, await headOfLog(first));
    const second = await restore(again);
    const branches = await second<{ branch: number }[]>`SELECT branch FROM log_branches ORDER BY number`;
    expect(branches).toHaveLength(2);
    orders.add((branches[0]?.branch ?? 0) < (branches[1]?.branch ?? 0));
    expect((await loadCursors(second)).open(owner, cursor)).toBe(parted);
  }
});
