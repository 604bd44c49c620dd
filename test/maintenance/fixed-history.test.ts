import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { deleteAccount } from '../../src/accounts/delete.ts';
import type { Sql, Transaction } from '../../src/lib/sql.ts';
import { connect } from '../../src/log/connect.ts';
import { archiveScans } from '../../src/maintenance/archive.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { eraseNext } from '../../src/maintenance/erasure.ts';
import { checkBackup, restoreBackup } from '../../src/maintenance/restore.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { verifyDeliveries } from '../../src/maintenance/verify-deliveries.ts';
import { set } from '../../src/webhooks/commands.ts';
import { archiveAll, useArchiveFolder } from '../support/archive.ts';
import { createDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { testBox } from '../support/secret-box.ts';
import { createRetentionWorld, type OwnedCode, type RetentionWorld, worldOn } from './retention-world.ts';

const parent = useArchiveFolder();
const february = { occurred_at: new Date('2026-02-28T23:59:59.999Z') };
const march = { occurred_at: new Date('2026-03-01T00:00:00Z') };
const cutoff = march.occurred_at;

const drops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const drop of drops.reverse()) await drop();
});

/** A log of 70 archived scans and 30 others, from which retention, erasure and archive have scans to remove. */
async function given(name: string): Promise<RetentionWorld & { gone: OwnedCode; folder: string }> {
  const world = await createRetentionWorld();
  drops.push(world.drop);
  const [gone, other] = [await world.newCode(), await world.newCode()];
  await world.scan(other, 30, february);
  await world.scan(gone, 40, february);
  await world.catchUp();
  const folder = join(parent, name);
  mkdirSync(folder);
  await archiveAll(world.sql, folder, 32);
  await world.scan(other, 20, march);
  await world.scan(gone, 10, march);
  await deleteAccount(world.sql, gone.owner.account, new Date());
  await world.catchUp();
  return { ...world, gone, folder };
}

/** What each process that removes scans from the log would do next. */
async function removals({ sql, gone, folder, step }: Awaited<ReturnType<typeof given>>): Promise<string[]> {
  const waits = new Error('waits');
  const archiving = archiveScans({
    sql,
    target: folder,
    before: new Date(),
    now: new Date(),
    onStep: ({ step }) => {
      if (step === 'wait') throw waits;
    },
  }).then(
    () => 'moved',
    (error) => (error === waits ? 'waits' : String(error)),
  );
  return [(await step(cutoff)).state, (await eraseNext(sql, gone.owner.account, new Date())).state, await archiving];
}

/** Whether another connection to the database has a snapshot. */
async function isSnapshotHeld(sql: Sql): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND backend_xmin IS NOT NULL
      AND pid <> pg_backend_pid()`;
  return rows.length > 0;
}

const scansIn = async (sql: Sql) => (await sql<[{ n: number }]>`SELECT count(*) AS n FROM scans`)[0].n;

test('a backup is of one moment: nothing is removed from the log meanwhile, and its history is read without a snapshot', async () => {
  const world = await given('backup');
  const file = join(parent, 'fixed.backup');
  const seen: { isSnapshotHeld: boolean; removals: string[] }[] = [];
  await writeBackup(world.sql, file, {
    now: new Date(),
    onProgress: async () =>
      seen.push({ isSnapshotHeld: await isSnapshotHeld(world.sql), removals: await removals(world) }),
  });
  for (const { removals } of seen) expect(removals).toEqual(['busy', 'waiting', 'waits']);
  expect(seen.at(0)?.isSnapshotHeld, 'for tables that change').toBe(true);
  expect(seen.at(-2)?.isSnapshotHeld, 'for scans').toBe(false);
  expect((await world.step(cutoff)).state, 'after the backup').toBe('progressed');

  const { sql: initial, ...database } = await createDatabase();
  await initial.end();
  const sql = connect(database.url, { max: 4, name: 'scanlog-cli' });
  drops.push(database.drop, () => sql.end());
  await restoreBackup(sql, await checkBackup(file));
  expect(await scansIn(sql)).toBe(100);
  const restored = await worldOn({ ...database, sql }, async () => {});
  expect(await restored.differences()).toEqual([]);
});

test('verify holds no snapshot while it reads the log, and nothing is removed from the log meanwhile', async () => {
  const world = await given('verify');
  const seen: { isSnapshotHeld: boolean; removals: string[] }[] = [];
  const { differences, scans } = await verify({
    sql: world.sql,
    warehouse: world.warehouse,
    onProgress: async () =>
      seen.push({ isSnapshotHeld: await isSnapshotHeld(world.sql), removals: await removals(world) }),
  });
  expect({ differences, scans }).toEqual({ differences: [], scans: 100 });
  expect(seen.length).toBeGreaterThan(3);
  for (const state of seen) expect(state).toEqual({ isSnapshotHeld: false, removals: ['busy', 'waiting', 'waits'] });
});

/** Resolves when Postgres has closed a connection that was idle in a transaction for as long as `sql` may be. */
async function untilIdleTooLong(sql: Sql, url: string): Promise<void> {
  const other = connect(url, { max: 1 });
  Object.assign(other.options.connection, sql.options.connection);
  const idle = other.begin(async (tx) => {
    const [{ pid }] = await tx<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
    await eventually(async () => expect(await sql`SELECT 1 FROM pg_stat_activity WHERE pid = ${pid}`).toEqual([]));
  });
  await idle.catch(() => {});
  await other.end({ timeout: 1 });
}

test('verify waits for slow archive files as long as they take', async () => {
  const world = await createRetentionWorld();
  drops.push(world.drop);
  const code = await world.newCode();
  await set(world.sql, testBox, code.owner, 'https://example.com/hook', { actor: 'operator', now: new Date() });
  await world.scan(code, 20, { occurred_at: new Date() });
  await world.catchUp();
  const folder = join(parent, 'slow');
  mkdirSync(folder);
  await archiveAll(world.sql, folder);

  const { url } = world.database;
  const sql = connect(url, { max: 4 });
  drops.push(() => sql.end());
  Object.assign(sql.options.connection, { idle_in_transaction_session_timeout: 2_000 });
  let files = 0;
  /** Delays what follows the statement that names the archive files: reading them. */
  const withSlowFiles = <T extends Sql | Transaction>(queryable: T): T =>
    new Proxy(queryable, {
      apply(target, self, [strings, ...values]) {
        const query = Reflect.apply(target, self, [strings, ...values]);
        if (!Array.isArray(strings) || strings.join() !== 'SELECT , AS archived') return query;
        return query.then(async (rows: unknown) => {
          files++;
          await untilIdleTooLong(world.sql, url);
          return rows;
        });
      },
      get: (target, property) =>
        property === 'begin'
          ? (options: string, run: (tx: Transaction) => Promise<unknown>) =>
              (target as Sql).begin(options, (tx) => run(withSlowFiles(tx)))
          : Reflect.get(target, property),
    });
  const { scans, differences } = await verifyDeliveries(withSlowFiles(sql));
  expect({ files, scans, differences }).toEqual({ files: 1, scans: 20, differences: [] });
});
