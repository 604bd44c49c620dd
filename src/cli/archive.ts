import { mkdir } from 'node:fs/promises';
import { ArchiveError } from '../archive/errors.ts';
import { readTarget } from '../archive/store.ts';
import { durationMs } from '../lib/duration.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { listArchives } from '../log/archives.ts';
import { archiveScans } from '../maintenance/archive.ts';
import { planArchive } from '../maintenance/archive-plan.ts';
import { withDatabase } from './connection.ts';
import { progressBar } from './progress.ts';
import { green, print, printJson } from './terminal.ts';

interface Options {
  olderThan: string;
  to: string;
  dryRun?: boolean;
  json?: boolean;
  data: string;
}

/** Before the first file; then the average of the files is used. */
const expectedBytesPerScan = 40;

/** Moves old scans from Postgres to archive files, or says what would be moved. */
export async function archive({ olderThan, to, dryRun = false, json = false, data }: Options): Promise<void> {
  const ageMs = durationMs(olderThan);
  if (ageMs === undefined)
    throw new StartError(`--older-than must be a duration such as 180d or 48h, not ${olderThan}.`);
  const target = readTarget(to);
  const now = new Date();
  const before = new Date(now.getTime() - ageMs);
  await withDatabase(data, (sql) => (dryRun ? preview(sql, before, json) : move(sql, { target, before, now }, json)));
}

const count = (value: number) => value.toLocaleString('en');
const megabytes = (bytes: number) => `${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
const nothing = (before: Date) =>
  `There is nothing to archive: the oldest scan in Postgres is from after ${before.toISOString()}.`;
const waiting = (projection: string) =>
  `Older scans stay until they are in the ${projection}: check that the service is running.`;

async function preview(sql: Sql, before: Date, json: boolean): Promise<void> {
  const { after, to, scans, waitsFor } = await planArchive(sql, before);
  const files = await listArchives(sql);
  const stored = files.reduce((sum, file) => sum + file.scans, 0);
  const perScan = stored === 0 ? expectedBytesPerScan : files.reduce((sum, { bytes }) => sum + bytes, 0) / stored;
  const estimated_bytes = Math.round(scans * perScan);
  if (json) return printJson({ from: after + 1, to, scans, estimated_bytes, waits_for: waitsFor ?? null });
  if (scans === 0 && waitsFor === undefined) print(nothing(before));
  if (scans > 0)
    print(
      `${count(scans)} scans would be moved, positions ${after + 1} to ${to}: about ${megabytes(estimated_bytes)}.`,
    );
  if (waitsFor !== undefined) print(waiting(waitsFor));
}

async function move(sql: Sql, options: { target: string; before: Date; now: Date }, json: boolean): Promise<void> {
  const { target, before } = options;
  if (!target.startsWith('s3://'))
    await mkdir(target, { recursive: true, mode: 0o700 }).catch((error) => {
      throw new ArchiveError(`The folder ${target} cannot be created: ${messageOf(error)}`);
    });
  const bar = progressBar('archiving');
  const result = await archiveScans({
    sql,
    ...options,
    onProgress: bar.update,
    onStep: (step) => {
      if (step.step === 'wait') process.stderr.write(`waiting for ${step.for}\n`);
    },
  });
  if (result.scans > 0) bar.end();
  const { to, scans, files, bytes, waitsFor, leftovers } = result;
  if (json)
    return printJson({
      up_to_position: to,
      scans,
      files,
      bytes,
      location: target,
      waits_for: waitsFor ?? null,
      leftovers,
    });
  if (scans === 0 && waitsFor === undefined) print(nothing(before));
  if (scans > 0)
    print(
      `${green('✓')} ${count(scans)} scans up to position ${to} are in ${files === 1 ? 'a file' : `${files} files`} in ${target}: ${megabytes(bytes)}, ${(bytes / scans).toFixed(1)} bytes per scan.`,
    );
  if (waitsFor !== undefined) print(waiting(waitsFor));
  for (const leftover of leftovers) print(`  ${leftover}`);
}
