import { ScanLine } from '../../events/scan-line.ts';
import { sourceOf } from '../archive/check.ts';
import { ArchiveFileMissing } from '../archive/errors.ts';
import type { ArchiveFiles } from '../archive/files.ts';
import { type OpenArchive, openArchive, readBlock } from '../archive/read.ts';
import type { S3Access } from '../archive/s3.ts';
import { filesAt } from '../archive/store.ts';
import { loadOnce } from '../lib/load-once.ts';
import { lru } from '../lib/lru.ts';
import type { Queryable } from '../lib/sql.ts';

/** A row of `archives`: a file with the scans of the positions `from` to `to`, both inclusive. */
export interface ArchiveFile {
  from: number;
  to: number;
  scans: number;
  earliest: string | null;
  latest: string | null;
  bytes: number;
  sha256: string;
  location: string;
  format: number;
}

/**
 * A scalar in SQL: the files that have positions after `after`, up to `to`, as JSON, or NULL. Part of the statement that
 * reads `scans`, so that both are of one snapshot, in which every scan is in one of them.
 */
export const archivedFiles = (sql: Queryable, after: number, to: number) => sql`(
  SELECT json_agg(json_build_object('from', a.from_position, 'to', a.to_position, 'scans', a.scans, 'earliest', a.earliest,
    'latest', a.latest, 'bytes', a.bytes, 'sha256', a.sha256, 'location', a.location, 'format', a.format)
    ORDER BY a.from_position)::text
  FROM archives a WHERE a.to_position > ${after} AND a.from_position <= ${to} AND a.location IS NOT NULL
)`;

export const parseFiles = (archived: string | null): ArchiveFile[] => (archived === null ? [] : JSON.parse(archived));

/** The files of the catalogue, oldest first. A range without scans has none. */
export const listArchives = (sql: Queryable): Promise<ArchiveFile[]> =>
  archivesIn(sql, { after: 0, to: Number.MAX_SAFE_INTEGER });

/** The files that have positions after `after`, up to `to`, oldest first. */
export async function archivesIn(sql: Queryable, { after, to }: { after: number; to: number }): Promise<ArchiveFile[]> {
  const [row] = await sql<[{ archived: string | null }]>`SELECT ${archivedFiles(sql, after, to)} AS archived`;
  return parseFiles(row.archived);
}

/** Equal for two catalogues with the same files. */
export const namesOf = (files: ArchiveFile[]) => files.map(({ location }) => location).join('\n');

/** Access to the files at a location. */
export async function filesOf(location: string): Promise<ArchiveFiles> {
  return filesAt(location, location.startsWith('s3://') ? await s3Access() : noAccess);
}

const noAccess: S3Access = {
  endpoint: undefined,
  region: undefined,
  accessKeyId: undefined,
  secretAccessKey: undefined,
};

/** Read when the first file in S3 is opened: readers of the log are many, and few logs have files there. */
async function s3Access(): Promise<S3Access> {
  const { readConfig } = await import('../config/config.ts');
  const config = readConfig(process.env);
  return {
    endpoint: config.archiveS3Endpoint,
    region: config.archiveS3Region,
    accessKeyId: config.archiveS3AccessKeyId,
    secretAccessKey: config.archiveS3SecretAccessKey,
  };
}

const maxOpenFiles = 16;
/** Readers go on in order, so a few blocks are enough; a block of 65,536 scans takes about 16 MB. */
const maxCachedBlocks = 2;

const openFiles = lru<string, Promise<OpenArchive>>(maxOpenFiles);
const blocks = lru<string, Promise<CachedBlock>>(maxCachedBlocks);

interface CachedBlock {
  lines: string[];
  positions: Float64Array;
}

const openFile = ({ location, bytes }: ArchiveFile): Promise<OpenArchive> =>
  loadOnce(openFiles, location, async () => openArchive(await sourceOf(await filesOf(location), location, bytes)));

const openBlock = (archive: OpenArchive, index: number): Promise<CachedBlock> =>
  loadOnce(blocks, `${archive.source.location}#${index}`, async () => {
    const lines = await readBlock(archive, index);
    return { lines, positions: Float64Array.from(lines, positionOf) };
  });

const positionOf = (line: string) => Number(line.slice(0, line.indexOf('\t')));

export interface ArchivedRange {
  after: number;
  to: number;
  limit?: number;
  /** Whether a line is wanted; all are if undefined. */
  isWanted?: (line: string) => boolean;
  /** The positions of the wanted lines, in ascending order; all of the range if undefined. */
  positions?: number[] | undefined;
}

/** The lines of archived scans after position `after`, up to position `to`, in log order, up to `limit` of them. */
export async function readArchivedLines(
  files: ArchiveFile[],
  { after, to, limit = Number.POSITIVE_INFINITY, isWanted = () => true, positions: wanted }: ArchivedRange,
): Promise<string[]> {
  const found: string[] = [];
  const isBetween = (first: number, last: number) =>
    wanted === undefined || wanted.some((position) => position >= first && position <= last);
  for (const file of files) {
    if (file.to <= after || file.from > to || file.scans === 0 || !isBetween(file.from, file.to)) continue;
    const archive = await openFile(file);
    for (const { index, first, last } of archive.blocks) {
      if (last <= after || first > to || !isBetween(first, last)) continue;
      const { lines, positions } = await openBlock(archive, index);
      for (const row of rowsOf(positions, { after, to, wanted })) {
        const line = lines[row] as string;
        if (!isWanted(line)) continue;
        found.push(line);
        if (found.length >= limit) return found;
      }
    }
  }
  return found;
}

/** The rows of a block that a read wants, by its sorted positions. */
function* rowsOf(
  positions: Float64Array,
  { after, to, wanted }: { after: number; to: number; wanted: number[] | undefined },
): Generator<number> {
  if (wanted === undefined) {
    const end = countUpTo(positions, to);
    for (let row = countUpTo(positions, after); row < end; row++) yield row;
    return;
  }
  for (const position of wanted) {
    if (position <= after || position > to) continue;
    const row = countUpTo(positions, position) - 1;
    if (positions[row] === position) yield row;
  }
}

/** The first position of an archived scan of this time or later. */
export async function archivedPositionSince(files: ArchiveFile[], since: Date): Promise<number | undefined> {
  const sinceMicros = BigInt(since.getTime()) * 1000n;
  for (const file of files) {
    if (file.latest === null || new Date(file.latest) < since) continue;
    const archive = await openFile(file);
    for (const { index, latestMicros } of archive.blocks) {
      if (latestMicros < sinceMicros) continue;
      const { lines } = await openBlock(archive, index);
      const first = lines.find((line) => new ScanLine(line).occurred_at >= since);
      if (first !== undefined) return positionOf(first);
    }
  }
  return undefined;
}

/** The positions of the last `count` archived scans. */
export async function lastArchivedPositions(files: ArchiveFile[], count: number): Promise<number[]> {
  let found: number[] = [];
  for (const file of files.toReversed()) {
    if (found.length >= count) break;
    const archive = await openFile(file);
    for (const { index } of archive.blocks.toReversed()) {
      if (found.length >= count) break;
      found = [...(await openBlock(archive, index)).positions, ...found];
    }
  }
  return found.slice(-count);
}

/** How many of the sorted positions are at most `position`. */
function countUpTo(positions: Float64Array, position: number): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] as number) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Runs a read of the log, and once more if it found that a file does not exist: the file may have been replaced after the
 * statement that named it.
 */
export async function withReplacedFiles<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ArchiveFileMissing)) throw error;
    return read();
  }
}
