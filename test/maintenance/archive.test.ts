import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookEventTypes } from '../../events/webhooks/webhook-events.ts';
import { counters } from '../../projections/counters.ts';
import { countUsed, readUsed } from '../../src/codes/limits.ts';
import { systemTimers } from '../../src/lib/timers.ts';
import { archivedPositionSince, listArchives } from '../../src/log/archives.ts';
import { connect } from '../../src/log/connect.ts';
import { locks } from '../../src/log/locks.ts';
import { listPartitions } from '../../src/log/partitions.ts';
import { readRange, readStream } from '../../src/log/read.ts';
import { readOwnedScans, readScans, readScansAt, readScanText } from '../../src/log/scan-lines.ts';
import { positionBefore } from '../../src/log/start-position.ts';
import { type Archived, type ArchiveOptions, type ArchiveStep, archiveScans } from '../../src/maintenance/archive.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { replayAnalytics } from '../../src/maintenance/replay-analytics.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { checkBackup, restoreBackup } from '../../src/maintenance/restore.ts';
import { unreadableFiles } from '../../src/maintenance/verify-archive.ts';
import { create } from '../../src/webhooks/commands.ts';
import { createDatabase } from '../support/database.ts';
import { startS3 } from '../support/s3.ts';
import { testBox } from '../support/secret-box.ts';
import { dumpTable } from '../support/tables.ts';
import { createRetentionWorld, type OwnedCode, type RetentionWorld } from './retention-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'scanlog-archive-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A folder in it. */
function newTarget(name: string): string {
  mkdirSync(join(folder, name));
  return join(folder, name);
}

/** Small files and row groups, so that few scans fill several of them. */
const sizes = { positionsPerFile: 64, positionsPerBlock: 16 };
const now = new Date('2026-06-01T00:00:00Z');
const old = new Date('2025-01-02T03:04:05.678Z');
const before = new Date('2026-01-01T00:00:00Z');

const archive = (world: RetentionWorld, options: Pick<ArchiveOptions, 'target'> & Partial<ArchiveOptions>) =>
  archiveScans({ sql: world.sql, before, now, sizes, ...options });

const allLines = async ({ sql }: RetentionWorld) => (await readScans(sql, 0, 1e9, 1e6)).map(({ line }) => line);
const scansInPostgres = async ({ sql }: RetentionWorld) => {
  const [row] = await sql<[{ count: number }]>`SELECT count(*) AS count FROM scans`;
  return row.count;
};

describe('an archive run', () => {
  let world: RetentionWorld;
  let [busy, quiet, deleted] = [] as unknown as [OwnedCode, OwnedCode, OwnedCode];
  let lines: string[];
  let totals: Awaited<ReturnType<RetentionWorld['totals']>>;
  let rows: string[];
  const target = newTarget('run');
  let result: Archived;
  let inPostgres: number;

  beforeAll(async () => {
    world = await createRetentionWorld();
    [busy, quiet, deleted] = [await world.newCode(), await world.newCode(), await world.newCode()];
    const settings = { events: [...webhookEventTypes], qr_ids: null, tags: null, description: '', active: true };
    const by = { actor: 'operator', now: new Date() };
    await create(world.sql, testBox, quiet.owner, { url: 'https://example.com', ...settings }, by);
    await world.scan(busy, 150, { occurred_at: old });
    await world.scan(quiet, 3, {
      occurred_at: old,
      city: 'Tab\t, "quote" and \\ in 京都',
      region: '',
      rule: 'f_x',
      is_bot: true,
    });
    await world.scan(deleted, 7, { occurred_at: old });
    await world.scan(busy, 10, { occurred_at: now });
    await world.scan(busy, 5, { occurred_at: old });
    await world.catchUp();
    expect(await dumpTable(world.sql, 'deliveries')).toHaveLength(3);
    lines = await allLines(world);
    totals = await world.totals();
    rows = await dumpTable(world.sql, 'scans');
    result = await archive(world, { target });
    inPostgres = await scansInPostgres(world);
  });
  afterAll(() => world.drop());

  test('moves the oldest scans to files, up to the first younger scan', async () => {
    expect(lines).toHaveLength(175);
    expect(result).toMatchObject({ scans: 160, files: 3, waitsFor: undefined, leftovers: [] });
    expect(inPostgres).toBe(15);
    const files = await listArchives(world.sql);
    expect(files.map(({ scans }) => scans).reduce((a, b) => a + b)).toBe(160);
    expect(files.at(-1)?.to).toBe(result.to);
    expect(readdirSync(target).sort()).toEqual(files.map(({ location }) => basename(location)).sort());
    for (const { location, bytes } of files) expect(statSync(location)).toMatchObject({ size: bytes, mode: 0o100600 });
    expect((await readStream(world.sql, 'service')).at(-1)).toMatchObject({
      type: 'scans_archived',
      actor: 'scanlog',
      data: { up_to_position: result.to, files: 1, location: target },
    });
    expect(await dumpTable(world.sql, 'archive_leftovers')).toEqual([]);
  });

  test('a second run has nothing to do', async () => {
    expect(await archive(world, { target })).toMatchObject({ scans: 0, files: 0 });
  });

  test('all readers of the log read the same as before', async () => {
    expect(await allLines(world)).toEqual(lines);
    const positions = lines.map((line) => Number(line.split('\t')[0]));
    const some = [0, 1, 63, 64, 100, 159, 160, 174].map((index) => positions[index] as number);
    expect((await readScansAt(world.sql, some)).map(({ position }) => position)).toEqual(some);
    const paged: string[] = [];
    for (let after = 0; ; ) {
      const { entries, to } = await readRange(world.sql, after, 40);
      if (to === after) break;
      for (const entry of entries)
        if (entry.type === 'code_scanned') paged.push((entry as { line: string } & typeof entry).line);
      after = to;
    }
    expect(paged).toEqual(lines);
    const owned = { ...quiet.owner, after: 0, to: 1e9 };
    expect((await readOwnedScans(world.sql, owned, 2)).map(({ line }) => line)).toEqual(lines.slice(150, 152));
    const text = await readScanText(world.sql, { after: 10, to: 1e9, endedBy: 0 });
    expect(text).toMatchObject({ count: lines.filter((line) => Number(line.split('\t')[0]) > 10).length });
  });

  test('a reader can begin with the last n entries, or at a time', async () => {
    const { entries } = await readRange(world.sql, 0, 10_000);
    for (const last of [1, 16, 30, 120, entries.length])
      expect(await positionBefore(world.sql, { last }), `${last}`).toBe((entries.at(-last)?.position ?? 0) - 1);
    expect(await positionBefore(world.sql, { last: 10_000 })).toBe((entries[0]?.position ?? 0) - 1);
    const files = await listArchives(world.sql);
    const first = Number(lines[0]?.split('\t')[0]);
    expect(await archivedPositionSince(files, old)).toBe(first);
    expect(await archivedPositionSince(files, new Date(0))).toBe(first);
    expect(await archivedPositionSince(files, new Date(old.getTime() + 1))).toBeUndefined();
  });

  test('verify is clean, limits are right, counters and analytics can be rebuilt', async () => {
    expect(await world.differences()).toEqual([]);
    await counters.rebuild(world.sql);
    expect(await world.totals()).toEqual(totals);
    // A limit that a code gets now counts its archived scans, without bots and fallbacks.
    await world.sql.begin((tx) => countUsed(tx, [busy.id, quiet.id]));
    expect([await readUsed(world.sql, busy.id), await readUsed(world.sql, quiet.id)]).toEqual([165, 0]);
    await world.sql`UPDATE codes SET max_scans = 1000 WHERE id IN (${busy.id}, ${quiet.id})`;
    expect(await world.differences()).toEqual([]);
    await world.sql`UPDATE codes SET max_scans = NULL`;
    await replayAnalytics({ sql: world.sql, warehouse: world.warehouse });
    expect(await world.differences()).toEqual([]);
  });

  test.each([true, false])('a backup %s archived scans restores all of them', async (withArchive) => {
    const file = join(folder, `${withArchive}.backup`);
    await writeBackup(world.sql, file, { now, withArchive });
    const target = await createDatabase();
    const sql = connect(target.url, { max: 2, name: 'scanlog-cli' });
    await restoreBackup(sql, await checkBackup(file));
    expect((await readScans(sql, 0, 1e9, 1e6)).map(({ line }) => line)).toEqual(lines);
    if (withArchive) expect(await dumpTable(sql, 'scans')).toEqual(rows);
    expect(await listArchives(sql)).toHaveLength(withArchive ? 0 : 3);
    expect(await unreadableFiles(await listArchives(sql))).toEqual([]);
    await counters.rebuild(sql);
    expect(await dumpTable(sql, 'scan_counts')).toEqual(await dumpTable(world.sql, 'scan_counts'));
    await sql.end();
    await target.drop();
  });

  test('the log refuses every other deletion', async () => {
    const archiving = (statement: string) =>
      world.sql.begin(async (tx) => {
        await tx`SELECT set_config('scanlog.archiving', 'true', true)`;
        await tx.unsafe(statement);
      });
    for (const statement of [
      'DELETE FROM scans',
      'DELETE FROM scans_0',
      'DELETE FROM events',
      'TRUNCATE scans',
      'UPDATE scans SET city = city',
    ])
      await expect(archiving(statement), statement).rejects.toThrow('the log is only ever appended to');
  });

  test('verify reports a missing or changed file, and wrong totals', async () => {
    const [{ location } = { location: '' }] = await listArchives(world.sql);
    renameSync(location, `${location}.away`);
    expect(await world.differences()).toEqual([
      expect.objectContaining({
        what: 'archive',
        found: expect.stringMatching(/^The archive file .* does not exist: /),
      }),
    ]);
    renameSync(`${location}.away`, location);
    const content = readFileSync(location);
    writeFileSync(location, content.with(50, (content[50] as number) ^ 1));
    expect(await world.differences()).toEqual([
      expect.objectContaining({ found: expect.stringMatching(/ has changed since it was written: /) }),
    ]);
    writeFileSync(location, content);
    await world.sql`UPDATE archived_scans SET total_scans = total_scans + 1 WHERE code = ${quiet.id}`;
    expect(await world.differences()).toEqual([
      { what: 'archived_scans', code: quiet.id, log: '3 scans, 3 unique', found: '4 scans, 3 unique' },
    ]);
    expect(await replayState(world.sql)).toMatchObject({ corrected: 1 });
    expect(await world.differences()).toEqual([]);
    expect(await world.totals()).toEqual(totals);
  });
});

test('a run that is interrupted has lost nothing, and the next one continues', async () => {
  const world = await createRetentionWorld();
  const target = newTarget('interrupted');
  await world.scan(await world.newCode(), 100, { occurred_at: old });
  await world.catchUp();
  const lines = await allLines(world);
  const interrupted = (isReached: (step: ArchiveStep) => boolean) =>
    archive(world, {
      target,
      onStep: (step) => {
        if (isReached(step)) throw new Error('killed');
      },
    });
  const expectAll = async (run: Promise<unknown>, moved: number, files: number) => {
    await expect(run).rejects.toThrow('killed');
    expect(await allLines(world)).toEqual(lines);
    expect(await listArchives(world.sql)).toHaveLength(moved);
    expect(readdirSync(target)).toHaveLength(files);
  };
  await expectAll(
    interrupted(({ step }) => step === 'write'),
    0,
    0,
  );
  await expectAll(
    interrupted(({ step }) => step === 'move'),
    0,
    1,
  );
  // In the transaction that moves the scans.
  await world.sql.unsafe(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$;
    CREATE TRIGGER fails BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.type = 'scans_archived') EXECUTE FUNCTION fail()`);
  await expectAll(archive(world, { target }), 0, 1);
  await world.sql`DROP TRIGGER fails ON events`;
  await expectAll(
    interrupted((step) => step.step === 'write' && step.from > 1),
    1,
    1,
  );
  await expectAll(
    interrupted(({ step }) => step === 'move'),
    1,
    2,
  );
  await world.sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${locks.archive})`;
    const refusal = 'Another archive run is under way: wait for it to end.';
    await expect(archive(world, { target })).rejects.toThrow(refusal);
  });

  expect(await archive(world, { target })).toMatchObject({ files: 1 });
  expect([await allLines(world), await scansInPostgres(world)]).toEqual([lines, 0]);
  expect(readdirSync(target)).toHaveLength(2);
  expect(await world.differences()).toEqual([]);
  await world.drop();
});

test('a file is written again if its scans were deleted, or if another run could have deleted it', async () => {
  const world = await createRetentionWorld();
  const target = newTarget('changed');
  const code = await world.newCode();
  await world.scan(code, 5, { occurred_at: new Date('2020-01-01T00:00:00Z') });
  await world.scan(code, 20, { occurred_at: old });
  let steps = 0;
  await world.catchUp();
  const result = await archive(world, {
    target,
    onStep: async ({ step }) => {
      if (step !== 'move') return;
      steps++;
      if (steps === 1) await world.dropAll(new Date('2021-01-01T00:00:00Z'));
      if (steps === 2) await world.sql`DELETE FROM archive_leftovers`;
    },
  });
  expect(result).toMatchObject({ scans: 20, files: 1 });
  expect([steps, readdirSync(target).length]).toEqual([3, 2]);
  expect([await scansInPostgres(world), (await allLines(world)).length]).toEqual([0, 20]);
  expect(await world.differences()).toEqual([]);
  await world.drop();
});

test('a partition that is archived completely is dropped; the files may be in S3', async () => {
  const [world, s3] = [await createRetentionWorld(), await startS3()];
  const code = await world.newCode();
  await world.scan(code, 30, { occurred_at: old });
  await world.skipTo(19_999_989);
  await world.scan(code, 25, { occurred_at: old });
  await world.catchUp();
  const lines = await allLines(world);
  const target = `s3://${s3.bucket}/scans`;
  // A read that begins before the first drop, and ends when the run says what it waits for.
  const reader = await world.sql.reserve();
  await reader`SET application_name = 'report'`;
  const waits: string[] = [];
  let moves = 0;
  const result = await archive(world, {
    target,
    timers: { ...systemTimers, sleep: async () => {} },
    async onStep(step) {
      if (step.step === 'move' && ++moves === 1)
        await reader.unsafe('BEGIN; LOCK TABLE ONLY scans IN ACCESS SHARE MODE');
      if (step.step === 'wait' && waits.push(step.for) === 1) await reader.unsafe('COMMIT');
    },
  });
  await reader`RESET application_name`;
  reader.release();
  expect(result).toMatchObject({ scans: 55, files: 3 });
  expect(waits[0]).toMatch(/^report \(Postgres process \d+, transaction since .*Z\) to stop using the log$/);
  const files = await listArchives(world.sql);
  expect(files.map(({ from, to }) => [from, to])).toEqual([
    [1, 64],
    [65, 19_999_999],
    [20_000_000, expect.any(Number)],
  ]);
  expect(files[0]?.location).toMatch(/^s3:\/\/scanlog-test\/scans\/scans-000000000001-000000000064-\w+\.parquet$/);
  const names = (await listPartitions(world.sql)).map(({ name }) => name);
  expect(names).toEqual(['scans_1', 'scans_2']);
  expect(await scansInPostgres(world)).toBe(0);
  expect(await world.differences()).toEqual([]);
  expect(await allLines(world)).toEqual(lines);
  // The end of the log is archived: new scans get higher positions, and nothing looks lost.
  await world.scan(code, 1, { occurred_at: now });
  expect(await world.differences()).toEqual([]);
  await s3.stop();
  expect(await world.differences()).toEqual([
    ...files.map(() => expect.objectContaining({ found: expect.stringMatching(/ cannot be read: /) })),
  ]);
  await world.drop();
});
