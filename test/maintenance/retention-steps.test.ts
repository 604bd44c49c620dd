import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { counters } from '../../projections/counters.ts';
import { ledger } from '../../projections/warehouse-ledger.ts';
import { deleteAccount } from '../../src/accounts/delete.ts';
import { countRowsByCode } from '../../src/analytics/row-counts.ts';
import { remove } from '../../src/codes/change.ts';
import { systemTimers, type Timers } from '../../src/lib/timers.ts';
import { connect } from '../../src/log/connect.ts';
import { findReader } from '../../src/log/drop-partitions.ts';
import { locks } from '../../src/log/locks.ts';
import { readStream } from '../../src/log/read.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { eraseNext } from '../../src/maintenance/erasure.ts';
import { replayAnalytics } from '../../src/maintenance/replay-analytics.ts';
import { checkBackup, restoreBackup } from '../../src/maintenance/restore.ts';
import { dropNext, latestRun, type RetentionStep } from '../../src/maintenance/retention.ts';
import { createDatabase } from '../support/database.ts';
import { useEmptiedDatabase } from '../support/emptied.ts';
import { eventually } from '../support/eventually.ts';
import { visitorNamed } from '../support/scans.ts';
import { dumpTable } from '../support/tables.ts';
import { createRetentionWorld, type RetentionWorld, worldOn } from './retention-world.ts';

const cutoff = new Date('2026-03-01T00:00:00Z');
const later = new Date('2026-05-01T00:00:00Z');
const old = { occurred_at: new Date('2026-02-28T23:59:59.999Z') };
const march = { occurred_at: cutoff };
const april = { occurred_at: new Date('2026-04-10T12:00:00Z') };

const database = useEmptiedDatabase();
let world: RetentionWorld;
beforeEach(async () => {
  world = await worldOn(database, async () => {});
});
afterEach(() => world.drop());

const scansInLog = async () => (await dumpTable(world.sql, 'scans')).length;
const scansOf = async ({ id }: { id: string }) => {
  const [row] = await world.sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE code = ${id}`;
  return row.count;
};
async function rowsInWarehouse(of = world): Promise<number> {
  const table = await ledger.inUse(of.sql);
  const counts = await countRowsByCode(of.warehouse, {
    version: table?.version ?? 0,
    account: undefined,
    position: table?.position ?? 0,
  });
  return [...counts.values()].reduce((sum, { total }) => sum + total, 0);
}
const partitions = async () => {
  const rows = await world.sql<{ name: string }[]>`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'scans'::regclass ORDER BY 1`;
  return rows.map(({ name }) => name);
};

describe('a run', () => {
  test('removes scans from before the cutoff, and verify and a rebuild find no difference after any step', async () => {
    const [one, other] = [await world.newCode(), await world.newCode()];
    await world.scan(one, 4, old);
    await world.scan(one, 2, { ...old, visitor: visitorNamed('regular') });
    await world.scan(other, 3, march);
    // Beyond the positions that one step searches.
    await world.skipTo(600_000);
    await world.scan(other, 5, old);
    await world.scan(one, 2, april);
    await world.catchUp();
    const totals = await world.totals();
    const warehouse = await ledger.inUse(world.sql);
    const states: string[] = [];
    for (let step = await world.step(cutoff); step.state !== 'idle'; step = await world.step(cutoff)) {
      states.push(step.state);
      expect(await world.differences(), `after ${states}`).toEqual([]);
      await counters.rebuild(world.sql);
      expect(await world.totals(), `after ${states}`).toEqual(totals);
    }
    expect(states.filter((state) => state === 'progressed').length, 'steps').toBeGreaterThan(2);
    expect([await scansInLog(), await rowsInWarehouse()]).toEqual([5, 5]);
    expect(await latestRun(world.sql)).toMatchObject({
      run: 1,
      scans: 11,
      cut_short: false,
      done_at: expect.any(Date),
    });
    const [event, ...more] = await readStream(world.sql, 'service');
    expect([event, more]).toMatchObject([
      { type: 'scans_dropped', actor: 'scanlog', data: { before: cutoff.toISOString(), scans: 11 } },
      [],
    ]);
    expect((await ledger.inUse(world.sql))?.version, 'no rebuild was needed').toBe(warehouse?.version);

    // A visitor whose first scan is removed.
    await world.scan(one, 1, { visitor: visitorNamed('regular') });
    expect(await world.differences()).toEqual([]);
    const added = (await world.totals()).find(({ code }) => code === one.id);
    expect(added).toMatchObject({ total_scans: 9, unique_scans: 7 });
    await replayAnalytics({ sql: world.sql, warehouse: world.warehouse });
    expect(await world.differences()).toEqual([]);
    expect(await rowsInWarehouse()).toBe(6);
  });

  test('does not start without a cutoff, or twice with the same cutoff', async () => {
    const code = await world.newCode();
    await world.scan(code, 3, old);
    await world.catchUp();
    expect(await world.step(undefined)).toEqual({ state: 'idle' });
    expect(await latestRun(world.sql)).toBeUndefined();
    await world.dropAll(cutoff);
    // Old scans that arrive late, from a spool, are removed by the next run.
    await world.scan(code, 2, old);
    await world.dropAll(cutoff);
    expect([await scansOf(code), await world.differences()]).toEqual([2, []]);
    await world.dropAll(later);
    expect([await scansOf(code), await world.differences()]).toEqual([0, []]);
    expect(await world.totals()).toMatchObject([{ total_scans: 5 }]);
  });

  test('that removes nothing appends no event', async () => {
    await world.scan(await world.newCode(), 3, april);
    await world.dropAll(cutoff);
    expect(await latestRun(world.sql)).toMatchObject({ scans: 0, done_at: expect.any(Date) });
    expect(await readStream(world.sql, 'service')).toEqual([]);
  });

  test('waits for every projection', async () => {
    await world.catchUp();
    await world.scan(await world.newCode(), 3, old);
    expect(await world.step(cutoff)).toEqual({ state: 'progressed' });
    const waiting = { state: 'waiting', for: expect.stringMatching(/^the counters to reach position/) };
    expect(await world.step(cutoff)).toEqual(waiting);
    expect(await scansInLog()).toBe(3);
    await world.catchUp();
    for (const statement of [
      "UPDATE checkpoints SET position = position - 1 WHERE projection = 'webhooks'",
      'UPDATE warehouse_tables SET position = position - 1',
    ]) {
      await world.sql.unsafe(statement);
      expect(await world.step(cutoff)).toMatchObject({ state: 'waiting' });
      await world.sql.unsafe(statement.replace('position - 1', 'position + 1'));
    }
    expect(await world.step(cutoff)).toEqual({ state: 'progressed' });
  });

  test('ends early when the retention is extended, and the rest is removed when it is shortened again', async () => {
    const code = await world.newCode();
    await world.scan(code, 3, old);
    await world.skipTo(600_000);
    await world.scan(code, 4, old);
    await world.catchUp();
    await world.step(cutoff);
    await world.step(cutoff);
    expect(await scansOf(code)).toBe(4);
    await world.dropAll(undefined);
    expect(await latestRun(world.sql)).toMatchObject({ cut_short: true, scans: 3, done_at: expect.any(Date) });
    expect([await scansOf(code), await rowsInWarehouse(), await world.differences()]).toEqual([4, 4, []]);
    await world.dropAll(new Date('2025-01-01'));
    expect(await scansOf(code)).toBe(4);
    await world.dropAll(cutoff);
    expect([await scansOf(code), await rowsInWarehouse(), await world.differences()]).toEqual([0, 0, []]);
    expect(await world.totals()).toMatchObject([{ total_scans: 7, unique_scans: 7 }]);
  });

  test('advances in one process at a time', async () => {
    await world.catchUp();
    await world.sql.begin(async (other) => {
      await other`SELECT pg_advisory_xact_lock(${locks.retention})`;
      expect(await world.step(cutoff)).toEqual({ state: 'busy' });
    });
    expect(await world.step(cutoff)).toEqual({ state: 'progressed' });
  });

  test('does not count scans of deleted codes', async () => {
    const [before, after, stays] = [await world.newCode(), await world.newCode(), await world.newCode()];
    for (const code of [before, after, stays]) await world.scan(code, 2, old);
    const by = { actor: 'operator', now: new Date() };
    await remove(world.sql, before.owner, before.id, by);
    await world.dropAll(cutoff);
    expect(await dumpTable(world.sql, 'dropped_scans')).toHaveLength(2);
    await remove(world.sql, after.owner, after.id, by);
    expect(await world.differences()).toEqual([]);
    expect(await dumpTable(world.sql, 'dropped_scans')).toEqual([`(${stays.id},2,2,0)`]);
    await counters.rebuild(world.sql);
    expect(await world.totals()).toEqual([{ code: stays.id, total_scans: 2, unique_scans: 2 }]);
  });

  test('keeps pending webhook deliveries, and verify accepts that their scans are gone', async () => {
    const code = await world.newCode();
    await world.catchUp();
    await world.sql`
      INSERT INTO endpoints (account, webhook, is_set, is_paid) VALUES (${code.owner.account}, 'live', true, true)`;
    await world.scan(code, 3, old);
    await world.catchUp();
    const deliveries = await dumpTable(world.sql, 'deliveries');
    expect(deliveries).toHaveLength(3);
    await world.dropAll(cutoff);
    expect(await dumpTable(world.sql, 'deliveries')).toEqual(deliveries);
    expect(await world.differences()).toEqual([]);
  });
});

describe('a partition of the log', () => {
  // With partitions that later tests do not see.
  beforeEach(async () => {
    await world.drop();
    world = await createRetentionWorld();
  });

  /** Fills three partitions: one has only old scans, one has some that are kept, and one is the last. */
  async function fillPartitions() {
    const code = await world.newCode();
    await world.skipTo(19_999_990);
    await world.scan(code, 5, old);
    await world.skipTo(20_000_000);
    await world.scan(code, 3, old);
    await world.scan(code, 2, march);
    await world.skipTo(40_000_000);
    await world.scan(code, 4, old);
    await world.scan(code, 1, april);
    return code;
  }
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-retention-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('that has only old scans is dropped, and the log continues, also after a backup and a restore', async () => {
    const code = await fillPartitions();
    await world.dropAll(cutoff);
    expect(await partitions()).toEqual(['scans_1', 'scans_2', 'scans_3', 'scans_4']);
    expect([await scansOf(code), await rowsInWarehouse(), await world.differences()]).toEqual([3, 3, []]);
    const totals = [{ code: code.id, total_scans: 15, unique_scans: 15 }];
    await counters.rebuild(world.sql);
    expect(await world.totals()).toEqual(totals);

    const file = join(folder, 'after.backup');
    await writeBackup(world.sql, file, { now: new Date() });
    const target = await createDatabase();
    const restoring = connect(target.url, { max: 2, name: 'scanlog-cli' });
    await restoreBackup(restoring, await checkBackup(file));
    await restoring.end();
    const restored = await worldOn(target, target.drop);
    expect(await restored.differences()).toEqual([]);
    await counters.rebuild(restored.sql);
    expect(await restored.totals()).toEqual(totals);
    // Everything before April: this drops the second partition, and the empty ones that the restore has created.
    await restored.dropAll(new Date('2026-04-01T00:00:00Z'));
    await world.drop();
    world = restored;
    expect(await partitions()).toEqual(['scans_2']);
    expect([await scansOf(code), await rowsInWarehouse(), await restored.differences()]).toEqual([1, 1, []]);
    expect(await restored.totals()).toEqual(totals);
  });

  test('is not dropped while a long transaction reads the log, which sees a consistent snapshot', async () => {
    const code = await fillPartitions();
    await world.catchUp();
    await world.step(cutoff);
    await world.sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
      await tx`SET LOCAL application_name = 'nightly backup'`;
      await tx`LOCK TABLE scans IN ACCESS SHARE MODE`;
      const reader = expect.stringMatching(/^nightly backup \(Postgres process \d+, transaction since \d{4}-.*Z\)/);
      // Its retries wait for nothing but the lock.
      const waiting = dropNext(world.sql, cutoff, new Date(), { timers: { ...systemTimers, sleep: async () => {} } });
      expect(await waiting).toEqual({ state: 'waiting', for: reader });
      expect(await tx`SELECT 1 FROM scans WHERE code = ${code.id}`).toHaveLength(15);
      expect(await findReader(world.sql, 0)).toEqual(reader);
      expect(await findReader(world.sql, 600_000), 'not for ten minutes').toBeUndefined();
      // A copy, whose tables have the same numbers.
      const other = await createDatabase();
      expect(await findReader(other.sql, 0), 'another database of the server').toBeUndefined();
      await other.drop();
    });
    // Its parallel workers may end later than its transaction.
    await eventually(async () => expect(await findReader(world.sql, 0)).toBeUndefined());
    expect(await dumpTable(world.sql, 'dropped_scans')).toEqual([]);
    expect(await world.step(cutoff)).toEqual({ state: 'progressed' });
    expect(await dumpTable(world.sql, 'dropped_scans')).toEqual([`(${code.id},5,5,0)`]);
  });

  test('is counted once if a short read delays its drop, and an erasure waits meanwhile', async () => {
    const code = await fillPartitions();
    const gone = await world.newCode();
    await world.catchUp();
    await world.step(cutoff);
    await deleteAccount(world.sql, gone.owner.account, new Date());
    const erase = () => eraseNext(world.sql, gone.owner.account, new Date());
    await erase();
    await world.catchUp();
    // The account has no scans that the warehouse would remove.
    await world.sql`UPDATE warehouse_tables SET removed_to = position`;
    const released = Promise.withResolvers<void>();
    let isWaiting = false;
    const timers: Timers = {
      ...systemTimers,
      sleep: async () => {
        isWaiting = true;
        await released.promise;
      },
    };
    const reader = await world.sql.reserve();
    let dropping: Promise<RetentionStep> | undefined;
    await world.sql.begin(async (gate) => {
      // Holds up the count, so that the read begins after the run has looked for long reads.
      await gate`LOCK TABLE scans_0 IN ACCESS EXCLUSIVE MODE`;
      dropping = dropNext(world.sql, cutoff, new Date(), { timers });
      await eventually(async () =>
        expect(await gate`SELECT 1 FROM pg_locks WHERE relation = 'scans_0'::regclass AND NOT granted`).toHaveLength(1),
      );
      await reader.unsafe('BEGIN; LOCK TABLE ONLY scans IN ACCESS SHARE MODE');
    });
    await eventually(() => expect(isWaiting).toBe(true));
    const waiting = { state: 'waiting', for: 'the retention or an archive run to drop a partition of the log' };
    expect(await erase()).toEqual(waiting);
    await reader.unsafe('COMMIT');
    reader.release();
    released.resolve();
    expect(await dropping).toEqual({ state: 'progressed' });
    expect(await dumpTable(world.sql, 'dropped_scans')).toEqual([`(${code.id},5,5,0)`]);
    expect(await erase()).not.toEqual(waiting);
  });
});

describe('the warehouse', () => {
  test('does not get removed scans back when it is rebuilt during a run', async () => {
    const code = await world.newCode();
    await world.scan(code, 3, old);
    await world.skipTo(600_000);
    await world.scan(code, 4, old);
    await world.scan(code, 2, april);
    await world.catchUp();
    await world.step(cutoff);
    await world.step(cutoff);
    await replayAnalytics({ sql: world.sql, warehouse: world.warehouse });
    expect(await rowsInWarehouse(), 'half of the old scans are removed').toBe(6);
    expect(await world.differences()).toEqual([]);
    await world.dropAll(cutoff);
    expect([await rowsInWarehouse(), await world.differences()]).toEqual([2, []]);
  });

  test('subtracts the removed rows once when the process dies before the confirmation', async () => {
    const code = await world.newCode();
    await world.scan(code, 5, old);
    await world.scan(code, 2, april);
    await world.catchUp();
    const { version } = (await ledger.inUse(world.sql)) ?? {};
    for (const expected of ['progressed', 'progressed']) expect((await world.step(cutoff)).state).toBe(expected);
    expect(await world.step(cutoff)).toEqual({ state: 'waiting', for: 'the scans to leave the warehouse' });
    // The first process announces the removal, the second one removes the rows, and neither confirms it.
    for (const expected of [7, 2]) {
      await world.catchUp();
      expect(await rowsInWarehouse()).toBe(expected);
      world.restartAnalytics();
    }
    expect(await ledger.inUse(world.sql)).toMatchObject({ dropping_run: 1, removing_rows: 5, rows: 7 });
    expect(await world.differences()).toEqual([]);
    await world.dropAll(cutoff);
    expect(await ledger.inUse(world.sql)).toMatchObject({ version, dropped_run: 1, dropping_run: null, rows: 2 });
  });
});

test('verify reports scans that should have been removed', async () => {
  const code = await world.newCode();
  await world.scan(code, 2, old);
  await world.scan(code, 2, april);
  await world.dropAll(cutoff);
  await world.sql`
    INSERT INTO scans
    SELECT position - 1, 'scan_left', code, account, mode, ${old.occurred_at}, country, region, city, device, browser,
      is_bot, visitor, false, revision
    FROM scans ORDER BY position LIMIT 1`;
  expect(await world.differences()).toContainEqual({
    what: 'retention',
    code: code.id,
    log: '1 scans',
    found: 'dropped',
  });
});

describe('the log', () => {
  const refusal = 'the log is only ever appended to';
  const dropping = (statement: string) =>
    world.sql.begin(async (tx) => {
      await tx`SELECT set_config('scanlog.dropping', 'true', true)`;
      await tx.unsafe(statement);
    });

  test('allows the retention to delete scans of its run, and nothing else', async () => {
    const code = await world.newCode();
    await world.scan(code, 2, old);
    await world.scan(code, 2, april);
    await world.catchUp();
    await expect(dropping('DELETE FROM scans'), 'no run is under way').rejects.toThrow(refusal);
    await world.step(cutoff);
    const ofRun = `occurred_at < '${cutoff.toISOString()}'`;
    for (const statement of [
      'DELETE FROM scans',
      'DELETE FROM scans_0',
      `UPDATE scans SET city = '' WHERE ${ofRun}`,
      'DELETE FROM events',
      "UPDATE events SET data = '{}', schema = 0",
      'TRUNCATE scans',
    ])
      await expect(dropping(statement), statement).rejects.toThrow(refusal);
    await expect(world.sql.unsafe(`DELETE FROM scans WHERE ${ofRun}`), 'without the setting').rejects.toThrow(refusal);
    await world.scan(code, 1, old);
    await expect(dropping(`DELETE FROM scans WHERE ${ofRun}`), 'after the end of the run').rejects.toThrow(refusal);
    await dropping(`DELETE FROM scans WHERE ${ofRun} AND position < (SELECT max(position) FROM scans)`);
  });
});
