import { expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { deleteAccount } from '../../src/accounts/delete.ts';
import { eraseNext } from '../../src/maintenance/erasure.ts';
import { ErasureProgress } from '../../src/maintenance/erasure-progress.ts';
import { useDatabase } from '../support/database.ts';
import { manualTimers } from '../support/timers.ts';

const database = useDatabase();
const now = new Date();

/** Adds scans at every `every`th position after the end of the log. */
async function addScans(account: string, count: number, every: number): Promise<void> {
  await database.sql`
    INSERT INTO scans
    SELECT p.last_value + n * ${every}::int, 'scan_' || p.last_value || n, 'qr_1', ${account}, 'live', now(), 'DE', '', '', 'ios',
      'safari', false, gen_random_uuid(), true, 1
    FROM log_position p, generate_series(1, ${count}::int) AS n`;
  await database.sql`SELECT setval('log_position', (SELECT max(position) FROM scans))`;
}

test('an erasure passes 100,000 positions or 5,000 scans in a step', async () => {
  const { sql } = database;
  const { id: account } = await createAccount(sql, { name: 'Zebrafisch', plan: 'pro', now });
  await addScans('acct_other', 100, 100);
  await addScans(account, 5_000, 1);
  await addScans(account, 2_000, 60);
  await deleteAccount(sql, account, now);
  const [{ head }] = await sql<[{ head: number }]>`SELECT last_value AS head FROM log_position`;
  await sql`
    INSERT INTO checkpoints VALUES ('counters', ${head}), ('webhooks', ${head})
    ON CONFLICT (projection) DO UPDATE SET position = excluded.position`;
  await sql`
    INSERT INTO warehouse_tables (definition, in_use, position, removed_to, rows) VALUES (1, true, ${head}, ${head}, 0)`;

  const left: number[] = [];
  for (let isDone = false; !isDone; ) {
    isDone = (await eraseNext(sql, account, now)).state === 'done';
    const [{ count }] = await sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE account = ${account}`;
    left.push(count);
  }
  expect(left).toEqual([2_000, 334, 0]);
  expect(await sql`SELECT 1 FROM scans WHERE account = 'acct_other'`).toHaveLength(100);
});

test('an erasure that takes long is logged once a minute, with the time that is left at this pace', () => {
  const timers = manualTimers();
  const lines: object[] = [];
  const progress = new ErasureProgress({ info: (fields: object) => lines.push(fields) }, timers);
  const at = (seconds: number, scansTo: number) => {
    timers.advance(seconds * 1_000 - timers.now());
    progress.add('acct_1', { state: 'progressed', scansTo, total: 1_000 });
  };
  at(0, 100);
  at(59, 190);
  expect(lines).toEqual([]);
  at(60, 200);
  at(61, 201);
  at(120, 400);
  // The archive files follow, from the beginning of the log.
  at(130, 64);
  at(190, 164);
  expect(lines).toEqual([
    { account: 'acct_1', position: 200, of: 1_000, remaining_seconds: 480 },
    { account: 'acct_1', position: 400, of: 1_000, remaining_seconds: 240 },
    { account: 'acct_1', position: 164, of: 1_000, remaining_seconds: 502 },
  ]);
});
