import { readdirSync, renameSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { counters } from '../../projections/counters.ts';
import { deleteAccount } from '../../src/accounts/delete.ts';
import { listArchives } from '../../src/log/archives.ts';
import { readStream } from '../../src/log/read.ts';
import { readScans } from '../../src/log/scan-lines.ts';
import { eraseNext } from '../../src/maintenance/erasure.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { dropNext } from '../../src/maintenance/retention.ts';
import type { RewriteHooks, RewriteStep } from '../../src/maintenance/rewrite-file.ts';
import { removeAllVisitors } from '../../src/maintenance/visitor-removal.ts';
import { archiveAll, useArchiveFolder } from '../support/archive.ts';
import { dumpTable } from '../support/tables.ts';
import { createRetentionWorld, type OwnedCode, type RetentionWorld } from './retention-world.ts';

const folder = useArchiveFolder();
const february = { occurred_at: new Date('2026-02-28T23:59:59.999Z') };
const march = { occurred_at: new Date('2026-03-01T00:00:00Z') };
const cutoff = march.occurred_at;

let world: RetentionWorld;
let [gone, other] = [] as unknown as [OwnedCode, OwnedCode];
let lines: string[];

/** Four files: both accounts, only the first one, both, and only the second one with younger scans. */
beforeAll(async () => {
  world = await createRetentionWorld();
  [gone, other] = [await world.newCode(), await world.newCode()];
  await world.scan(other, 30, february);
  await world.scan(gone, 100, february);
  await world.scan(other, 30, { ...february, is_bot: true });
  await world.scan(other, 40, march);
  await world.catchUp();
  lines = await allLines();
  await archiveAll(world.sql, folder);
  expect(await listArchives(world.sql)).toHaveLength(4);
});
afterAll(() => world.drop());

const allLines = async () => (await readScans(world.sql, 0, 1e9, 1e6)).map(({ line }) => line);
const linesOf = ({ id }: OwnedCode) => lines.filter((line) => line.includes(`\t${id}\t`));
const killedAt = (step: RewriteStep): RewriteHooks => ({
  onStep: (reached) => {
    if (reached === step) throw new Error('killed');
  },
});
const hasFile = async () =>
  (await world.sql<{ has: boolean }[]>`SELECT location IS NOT NULL AS has FROM archives ORDER BY from_position`).map(
    ({ has }) => has,
  );
/** Whether the folder has the files of the catalogue, and no others. */
async function expectNoLeftovers(): Promise<void> {
  const named = (await listArchives(world.sql)).map(({ location }) => basename(location));
  expect(readdirSync(folder).sort()).toEqual(named.sort());
  for (const table of ['archive_leftovers', 'archive_deletions']) expect(await dumpTable(world.sql, table)).toEqual([]);
}

/** Runs steps of the erasure until it is done or waits for the archive. */
async function erase(hooks: RewriteHooks = {}): Promise<string> {
  for (;;) {
    await world.catchUp();
    await removeAllVisitors(world.sql);
    const step = await eraseNext(world.sql, gone.owner.account, new Date(), hooks);
    if (step.state === 'done') return 'done';
    if (step.state === 'waiting' && step.isArchive) return step.for;
  }
}

test('an erasure replaces the files of the account; killed at any step, it loses nothing and continues', async () => {
  await deleteAccount(world.sql, gone.owner.account, new Date());
  for (const [step, files] of [
    ['write', 4],
    ['replace', 5],
    ['delete', 5],
  ] as const) {
    await expect(erase(killedAt(step)), step).rejects.toThrow('killed');
    expect(await world.differences(), step).toEqual([]);
    expect((await allLines()).filter((line) => linesOf(other).includes(line))).toEqual(linesOf(other));
    expect(readdirSync(folder), step).toHaveLength(files + (step === 'delete' ? 1 : 0));
  }

  // The second file gets no successor.
  renameSync(folder, `${folder}-away`);
  expect(await erase()).toMatch(/^the archive \(The archive file .* does not exist: .*[^.]\)$/);
  renameSync(`${folder}-away`, folder);
  await expect(erase(killedAt('delete'))).rejects.toThrow('killed');
  expect(await hasFile()).toEqual([true, false, true, true]);
  expect(await world.differences()).toEqual([]);

  await world.sql`UPDATE erasures SET done_at = now()`;
  expect(await world.differences(), 'scans of the third file').toEqual([
    expect.objectContaining({ what: 'erasure', code: gone.id, found: 'erased' }),
  ]);
  await world.sql`UPDATE erasures SET done_at = NULL`;

  expect(await erase()).toBe('done');
  expect(await allLines()).toEqual(linesOf(other));
  expect(await world.differences()).toEqual([]);
  expect(await replayState(world.sql)).toMatchObject({ corrected: 0 });
  await expectNoLeftovers();
});

test('the retention removes files, and rewrites one at the border; killed at any step, it continues', async () => {
  const totals = await world.totals();
  const run = async (hooks: RewriteHooks = {}) => {
    for (;;) {
      await world.catchUp();
      const step = await dropNext(world.sql, cutoff, new Date(), hooks);
      if (step.state === 'idle') return;
      if (step.state === 'waiting' && step.for.startsWith('the archive')) return step.for;
    }
  };
  for (const step of ['write', 'replace', 'delete'] as const) {
    await expect(run(killedAt(step)), step).rejects.toThrow('killed');
    expect(await world.differences(), step).toEqual([]);
    await counters.rebuild(world.sql);
    expect(await world.totals(), step).toEqual(totals);
  }
  expect(await hasFile()).toEqual([false, false, true, true]);
  await expect(run(killedAt('replace'))).rejects.toThrow('killed');
  renameSync(folder, `${folder}-away`);
  expect(await run()).toMatch(/^the archive \(/);
  renameSync(`${folder}-away`, folder);
  await run();
  expect(await allLines()).toEqual(linesOf(other).filter((line) => line.includes('2026-03-01')));
  expect(await dumpTable(world.sql, 'dropped_scans')).toEqual([`(${other.id},60,60,30)`]);
  expect(await dumpTable(world.sql, 'archived_scans')).toEqual([`(${other.id},40,40,0)`]);
  expect((await readStream(world.sql, 'service')).at(-1)).toMatchObject({ type: 'scans_dropped', data: { scans: 60 } });
  expect(await world.differences()).toEqual([]);
  await counters.rebuild(world.sql);
  expect(await world.totals()).toEqual(totals);
  await expectNoLeftovers();
});
