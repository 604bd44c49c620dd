import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { counters } from '../../projections/counters.ts';
import { deleteAccount } from '../../src/accounts/delete.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { systemTimers, type Timers } from '../../src/lib/timers.ts';
import { listArchives } from '../../src/log/archives.ts';
import { connect } from '../../src/log/connect.ts';
import { readStream } from '../../src/log/read.ts';
import { readScans } from '../../src/log/scan-lines.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { eraseNext } from '../../src/maintenance/erasure.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { checkBackup, restoreBackup } from '../../src/maintenance/restore.ts';
import { dropNext } from '../../src/maintenance/retention.ts';
import type { RewriteHooks, RewriteStep } from '../../src/maintenance/rewrite-file.ts';
import { eraseAccount } from '../../src/maintenance/run-erasures.ts';
import { runRetention } from '../../src/maintenance/run-retention.ts';
import { removeAllVisitors } from '../../src/maintenance/visitor-removal.ts';
import { archiveAll, useArchiveFolder } from '../support/archive.ts';
import { createDatabase } from '../support/database.ts';
import { dumpTable } from '../support/tables.ts';
import { createRetentionWorld, type OwnedCode, type RetentionWorld, worldOn } from './retention-world.ts';

const parent = useArchiveFolder();
const february = { occurred_at: new Date('2026-02-28T23:59:59.999Z') };
const march = { occurred_at: new Date('2026-03-01T00:00:00Z') };
const cutoff = march.occurred_at;

const drops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(drops.map((drop) => drop())));

interface Given extends RetentionWorld {
  gone: OwnedCode;
  other: OwnedCode;
  folder: string;
  /** The lines of all scans of `other`. */
  lines: string[];
}

/** Four files: both accounts, only `gone`, both, and only `other`, with scans of March from the third one on. */
async function given(name: string): Promise<Given> {
  const world = await createRetentionWorld();
  drops.push(world.drop);
  const [gone, other] = [await world.newCode(), await world.newCode()];
  await world.scan(other, 30, february);
  await world.scan(gone, 100, february);
  await world.scan(other, 30, { ...february, is_bot: true });
  await world.scan(other, 40, march);
  await world.catchUp();
  const lines = (await allLines(world)).filter((line) => line.includes(`\t${other.id}\t`));
  const folder = join(parent, name);
  mkdirSync(folder);
  await archiveAll(world.sql, folder, 64);
  expect(await listArchives(world.sql)).toHaveLength(4);
  return { ...world, gone, other, folder, lines };
}

const allLines = async ({ sql }: { sql: Sql }) => (await readScans(sql, 0, 1e9, 1e6)).map(({ line }) => line);
const killedAt = (step: RewriteStep): RewriteHooks => ({
  onStep: (reached) => {
    if (reached === step) throw new Error('killed');
  },
});
/** Which ranges of the catalogue have a file. */
const haveFiles = async ({ sql }: Given) => {
  const rows = await sql<{ has: boolean }[]>`SELECT location IS NOT NULL AS has FROM archives ORDER BY from_position`;
  return rows.map(({ has }) => has);
};
/** Whether the folder has the files of the catalogue, and no others. */
async function expectNoLeftovers({ sql, folder }: Given): Promise<void> {
  const named = (await listArchives(sql)).map(({ location }) => basename(location));
  expect(readdirSync(folder).sort()).toEqual(named.sort());
  for (const table of ['archive_leftovers', 'archive_deletions']) expect(await dumpTable(sql, table)).toEqual([]);
}

/** Runs steps of the erasure until it is done or waits for the archive. */
async function erase({ sql, gone, catchUp }: Given, hooks: RewriteHooks = {}): Promise<string> {
  let isWaiting = true;
  for (;;) {
    if (isWaiting) {
      await catchUp();
      await removeAllVisitors(sql);
    }
    const step = await eraseNext(sql, gone.owner.account, new Date(), hooks);
    if (step.state === 'done') return 'done';
    if (step.state === 'waiting' && step.isArchive) return step.for;
    isWaiting = step.state === 'waiting';
  }
}

test('an erasure replaces the files of the account; killed at any step, it loses nothing and continues', async () => {
  const world = await given('erasure');
  const { sql, gone, folder, lines } = world;
  await deleteAccount(sql, gone.owner.account, new Date());
  for (const [step, files] of [
    ['write', 4],
    ['replace', 5],
    ['delete', 5],
  ] as const) {
    await expect(erase(world, killedAt(step)), step).rejects.toThrow('killed');
    expect(await world.differences(), step).toEqual([]);
    expect((await allLines(world)).filter((line) => lines.includes(line))).toEqual(lines);
    expect(readdirSync(folder), step).toHaveLength(files + (step === 'delete' ? 1 : 0));
  }

  // The second file gets no successor.
  renameSync(folder, `${folder}-away`);
  expect(await erase(world)).toMatch(/^the archive \(The archive file .* does not exist: .*[^.]\)$/);
  renameSync(`${folder}-away`, folder);
  await expect(erase(world, killedAt('delete'))).rejects.toThrow('killed');
  expect(await haveFiles(world)).toEqual([true, false, true, true]);
  expect(await world.differences()).toEqual([]);

  await sql`UPDATE erasures SET done_at = now()`;
  expect(await world.differences(), 'scans of the third file').toEqual([
    expect.objectContaining({ what: 'erasure', code: gone.id, found: 'erased' }),
  ]);
  await sql`UPDATE erasures SET done_at = NULL`;

  expect(await erase(world)).toBe('done');
  expect(await allLines(world)).toEqual(lines);
  expect(await world.differences()).toEqual([]);
  expect(await replayState(sql)).toMatchObject({ corrected: 0 });
  await expectNoLeftovers(world);
});

test('an erasure pauses for appends after its steps in the log, but not after files of the archive', async () => {
  const world = await given('pauses');
  const { sql, gone, catchUp } = world;
  await deleteAccount(sql, gone.owner.account, new Date());
  const waitMs = 250;
  let now = 0;
  const pauses: { ms: number; archiveTo: number }[] = [];
  const timers: Timers = {
    ...systemTimers,
    // Each look at the time takes a second, so that every step takes some.
    now: () => (now += 1_000),
    sleep: async (ms) => {
      const [row] = await sql<[{ archiveTo: number }]>`SELECT archive_to AS "archiveTo" FROM erasures`;
      if (ms !== waitMs) return void pauses.push({ ms, archiveTo: row.archiveTo });
      await catchUp();
      await removeAllVisitors(sql);
    },
  };
  const options = { timeoutMs: Number.POSITIVE_INFINITY, onProgress() {} };
  expect(await eraseAccount(sql, gone.owner.account, options, timers)).toBeUndefined();
  const inLog = pauses.filter(({ archiveTo }) => archiveTo === 0);
  const inArchive = pauses.filter(({ archiveTo }) => archiveTo > 0);
  expect(inLog.length).toBeGreaterThan(0);
  expect(inLog.filter(({ ms }) => ms === 0)).toEqual([]);
  expect(inArchive.length).toBeGreaterThan(0);
  expect(inArchive.filter(({ ms }) => ms > 0)).toEqual([]);
});

test('so does the retention', async () => {
  const { sql, database, catchUp } = await given('retention-pauses');
  const replaced = (await listArchives(sql)).slice(0, 3).map(({ to }) => to);
  const times = { firstMs: 0, everyMs: 1, waitMs: 2 };
  const ended = Promise.withResolvers<void>();
  let now = 0;
  const pausedAt = new Set<number>();
  const timers: Timers = {
    ...systemTimers,
    now: () => (now += 1_000),
    sleep: async (ms, { signal } = {}) => {
      if (ms === times.waitMs) return catchUp();
      if (ms === times.everyMs) {
        ended.resolve();
        return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));
      }
      const [run] = await sql<{ done_to: number }[]>`SELECT done_to FROM scan_retention`;
      if (run !== undefined) pausedAt.add(run.done_to);
    },
  };
  const retention = runRetention({
    sql,
    databaseUrl: database.url,
    months: 2,
    clock: () => new Date('2026-05-20'),
    log: createLogger('error', false),
    metrics: createMetrics(),
    times,
    timers,
  });
  await ended.promise;
  await retention.stop();
  const [{ up_to }] = await sql<[{ up_to: number }]>`SELECT up_to FROM scan_retention`;
  expect(pausedAt).toContain(up_to);
  expect(replaced.filter((to) => pausedAt.has(to))).toEqual([]);
});

test('an erasure that was under way when a backup was written is completed after the restore', async () => {
  const world = await given('restored');
  const { gone, folder, lines } = world;
  await deleteAccount(world.sql, gone.owner.account, new Date());
  // The first file is replaced, and the others are not.
  await expect(erase(world, killedAt('delete'))).rejects.toThrow('killed');
  const file = join(folder, 'meanwhile.backup');
  await writeBackup(world.sql, file, { now: new Date() });

  const { drop, ...database } = await createDatabase();
  const sql = connect(database.url, { max: 4, name: 'scanlog-cli' });
  await database.sql.end();
  await restoreBackup(sql, await checkBackup(file));
  const restored = await worldOn({ ...database, sql }, drop);
  drops.push(async () => {
    await sql.end();
    await restored.drop();
  });
  expect(await allLines(restored), 'scans of two files are back').not.toEqual(lines);
  expect(await erase({ ...world, ...restored })).toBe('done');
  expect(await allLines(restored)).toEqual(lines);
  expect(await restored.differences()).toEqual([]);
});

test('the retention removes files, and rewrites one at the border; killed at any step, it continues', async () => {
  const world = await given('retention');
  const { sql, gone, other, folder, lines } = world;
  const totals = await world.totals();
  const run = async (hooks: RewriteHooks = {}) => {
    let isWaiting = true;
    for (;;) {
      if (isWaiting) await world.catchUp();
      const step = await dropNext(sql, cutoff, new Date(), hooks);
      if (step.state === 'idle') return;
      if (step.state === 'waiting' && step.for.startsWith('the archive')) return step.for;
      isWaiting = step.state === 'waiting';
    }
  };
  for (const step of ['write', 'replace', 'delete'] as const) {
    await expect(run(killedAt(step)), step).rejects.toThrow('killed');
    expect(await world.differences(), step).toEqual([]);
    await counters.rebuild(sql);
    expect(await world.totals(), step).toEqual(totals);
  }
  expect(await haveFiles(world)).toEqual([false, true, true, true]);
  await expect(run(killedAt('delete'))).rejects.toThrow('killed');
  expect(await haveFiles(world)).toEqual([false, false, true, true]);
  renameSync(folder, `${folder}-away`);
  expect(await run()).toMatch(/^the archive \(/);
  renameSync(`${folder}-away`, folder);
  await run();
  expect(await allLines(world)).toEqual(lines.filter((line) => line.includes('2026-03-01')));
  const dropped = [`(${gone.id},100,100,0)`, `(${other.id},60,60,30)`];
  expect(await dumpTable(sql, 'dropped_scans')).toEqual(dropped.sort());
  expect(await dumpTable(sql, 'archived_scans')).toEqual([`(${other.id},40,40,0)`]);
  expect((await readStream(sql, 'service')).at(-1)).toMatchObject({ type: 'scans_dropped', data: { scans: 160 } });
  expect(await world.differences()).toEqual([]);
  await counters.rebuild(sql);
  expect(await world.totals()).toEqual(totals);
  await expectNoLeftovers(world);
});
