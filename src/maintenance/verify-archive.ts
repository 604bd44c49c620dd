import type { ScanCount, ScanCounts } from '../../events/scan-count.ts';
import { ScanLine } from '../../events/scan-line.ts';
import { isFallback } from '../../events/targeting/resolver.ts';
import { checkSha256, linesOf, sourceOf } from '../archive/check.ts';
import { ArchiveError } from '../archive/errors.ts';
import { messageOf } from '../lib/errors.ts';
import type { Queryable } from '../lib/sql.ts';
import { type ArchiveFile, filesOf } from '../log/archives.ts';
import { isOfAccount, readByCode } from './by-code.ts';
import { addCounts, type CountOptions, type Difference, differences, type LogCounts } from './scan-counts.ts';
import { isUncertain, type Limit, type UncertainScans } from './verify-limits.ts';

/** The scans in archive files, by code. */
export interface ArchiveCounts extends LogCounts {
  /** Those that do not count against a limit; as `total`, and `unique` is 0. */
  uncounted: ScanCounts;
  uncertain: UncertainScans;
}

const noCounts = (): ArchiveCounts => ({
  all: new Map(),
  leaving: new Map(),
  uncounted: new Map(),
  uncertain: new Map(),
});

interface FileOptions extends Pick<CountOptions, 'account' | 'leaving' | 'onProgress'> {
  /** The codes with a limit. */
  limits?: Limit[];
}

export interface ArchiveVerified {
  counts: ArchiveCounts;
  /** Files that are missing, have changed, or cannot be read. */
  differences: Difference[];
}

/** Reads every file completely, compares it with the catalogue, and counts its scans. */
export async function verifyFiles(files: ArchiveFile[], options: FileOptions): Promise<ArchiveVerified> {
  const counts = noCounts();
  const found: Difference[] = [];
  for (const file of files) {
    try {
      await countFile(file, options, counts);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      found.push({ what: 'archive', code: 'all', log: `${file.scans} scans`, found: messageOf(error) });
    }
    await options.onProgress?.(file.to);
  }
  return { counts, differences: found };
}

async function countFile(
  { location, bytes, sha256, scans }: ArchiveFile,
  { account, leaving, limits = [] }: FileOptions,
  counts: ArchiveCounts,
): Promise<void> {
  const source = await sourceOf(await filesOf(location), location, bytes);
  await checkSha256(source, sha256);
  const ofFile = noCounts();
  const limitOf = new Map(limits.map((limit) => [limit.code, limit]));
  let total = 0;
  for await (const lines of linesOf(source)) {
    total += lines.length;
    for (const line of lines) countScan(new ScanLine(line), { account, leaving, limitOf }, ofFile);
  }
  if (total !== scans) throw new ArchiveError(`The archive file ${location} has ${total} scans instead of ${scans}.`);
  addCounts(counts.all, ofFile.all);
  addCounts(counts.leaving, ofFile.leaving);
  addCounts(counts.uncounted, ofFile.uncounted);
  for (const [code, scans] of ofFile.uncertain) counts.uncertain.set(code, (counts.uncertain.get(code) ?? 0) + scans);
}

function countScan(
  scan: ScanLine,
  { account, leaving, limitOf }: Pick<FileOptions, 'account' | 'leaving'> & { limitOf: Map<string, Limit> },
  counts: ArchiveCounts,
): void {
  if (account !== undefined && scan.account !== account) return;
  const { code, is_unique } = scan;
  const count: ScanCount = { total: 1, unique: is_unique ? 1 : 0 };
  addCounts(counts.all, [[code, count]]);
  if (leaving !== undefined && scan.position <= leaving.up_to && scan.occurred_at < leaving.before)
    addCounts(counts.leaving, [[code, count]]);
  if (scan.is_bot || isFallback(scan.rule)) return void addCounts(counts.uncounted, [[code, { total: 1, unique: 0 }]]);
  const limit = limitOf.get(code);
  if (limit !== undefined && isUncertain(limit, scan))
    counts.uncertain.set(code, (counts.uncertain.get(code) ?? 0) + 1);
}

/** Positions that the catalogue leaves out. A range without scans has a row, and no file. */
export async function gapsInCatalogue(sql: Queryable): Promise<Difference[]> {
  const gaps = await sql<{ after: number; before: number }[]>`
    SELECT * FROM (
      SELECT lag(to_position, 1, 0::bigint) OVER (ORDER BY from_position) AS after, from_position AS before FROM archives
    ) AS neighbors WHERE before <> after + 1 ORDER BY before`;
  return gaps.map(({ after, before }) => {
    const found = `No archive file has the positions ${after + 1} to ${before - 1}.`;
    return { what: 'archive', code: 'all', log: 'archived', found };
  });
}

/** A row of `archived_scans`. */
interface ArchivedScans extends ScanCount {
  code: string;
  uncounted: number;
}

export async function readArchivedScanCounts(sql: Queryable, account: string | undefined): Promise<ArchivedScans[]> {
  const rows = await readByCode(
    (after, limit) => sql<(ArchivedScans & { wanted: boolean })[]>`
      SELECT t.code, t.total_scans AS total, t.unique_scans AS "unique", t.uncounted_scans AS uncounted,
        ${isOfAccount(sql, account)} AS wanted
      FROM archived_scans t WHERE t.code > ${after} ORDER BY t.code LIMIT ${limit}`,
  );
  return rows.filter(({ wanted }) => wanted);
}

/** Compares `archived_scans` with the files. It has no deleted codes. */
export function differingArchivedScans(
  rows: ArchivedScans[],
  { all, uncounted }: ArchiveCounts,
  isDeleted: (code: string) => boolean,
): Difference[] {
  const ofExisting = (counts: Iterable<[string, ScanCount]>) =>
    new Map([...counts].filter(([code, { total }]) => total > 0 && !isDeleted(code)));
  const stored = rows.map(({ code, total, unique }): [string, ScanCount] => [code, { total, unique }]);
  const storedUncounted = rows.map((row): [string, ScanCount] => [row.code, { total: row.uncounted, unique: 0 }]);
  return [
    ...differences('archived_scans', ofExisting(all), ofExisting(stored)),
    ...differences('archived_scans, uncounted', ofExisting(uncounted), ofExisting(storedUncounted)),
  ];
}

/** A sentence for each file that is missing, has another size, or cannot be reached. Does not read the files. */
export async function unreadableFiles(files: ArchiveFile[]): Promise<string[]> {
  const found: string[] = [];
  for (const { location, bytes } of files) {
    try {
      await sourceOf(await filesOf(location), location, bytes);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      found.push(messageOf(error));
    }
  }
  return found;
}
