import { createHash, type Hash } from 'node:crypto';
import { checkSha256, linesOf, sourceOf } from '../archive/check.ts';
import { ArchiveError } from '../archive/errors.ts';
import { ArchiveWriter, type WrittenArchive } from '../archive/format.ts';
import { locationIn } from '../archive/store.ts';
import { messageOf } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Sql } from '../lib/sql.ts';
import { filesOf } from '../log/archives.ts';

/** A file that is stored and checked. */
export interface StoredFile extends WrittenArchive {
  location: string;
}

interface StoreOptions {
  sql: Sql;
  /** A folder, or `s3://bucket/prefix`. */
  target: string;
  /** The positions that the file covers, both inclusive. */
  range: { from: number; to: number };
  now: Date;
}

/**
 * Writes scans, the lines of one block after the other, to a new file, syncs it, decodes it again and compares, stores it and
 * reads it back. The file is in `archive_leftovers` until the caller deletes it there, in the transaction that adds it to
 * the catalogue.
 */
export async function storeFile(options: StoreOptions, blocks: AsyncIterable<string[]>): Promise<StoredFile> {
  const { sql, target, range, now } = options;
  const location = locationIn(target, nameOf(range, now));
  await sql`INSERT INTO archive_leftovers (location, since) VALUES (${location}, ${now})`;
  const files = await filesOf(location);
  const staged = await files.stage(location);
  try {
    const { written, checksum } = await writeStaged(staged, options, blocks);
    await compareLines(staged, location, written, checksum);
    await files.put(staged, location);
    await checkSha256(await sourceOf(files, location, written.bytes), written.sha256);
    return { ...written, location };
  } finally {
    await files.discard(staged);
  }
}

/** The range, and a suffix, so that no file is ever overwritten: not one of another service either. */
function nameOf({ from, to }: { from: number; to: number }, now: Date): string {
  const digits = (position: number) => String(position).padStart(12, '0');
  return `scans-${digits(from)}-${digits(to)}-${newId('batch', now.getTime()).slice(-8)}.parquet`;
}

const addLines = (hash: Hash, lines: string[]) => {
  for (const line of lines) hash.update(line).update('\n');
};

async function writeStaged(staged: string, { sql, range }: StoreOptions, blocks: AsyncIterable<string[]>) {
  const writer = await ArchiveWriter.create(staged).catch((error) => {
    throw new ArchiveError(`The archive file ${staged} cannot be written: ${messageOf(error)}`);
  });
  try {
    const hash = createHash('sha256');
    for await (const lines of blocks) {
      await writer.add(lines);
      addLines(hash, lines);
    }
    const written = await writer.finish({ ...range, instance: await instanceOf(sql) });
    return { written, checksum: hash.digest('hex') };
  } finally {
    await writer.close();
  }
}

async function instanceOf(sql: Sql): Promise<string> {
  const [row] = await sql<{ instance: string }[]>`
    SELECT encode(value, 'hex') AS instance FROM secrets WHERE name = 'instance'`;
  return row?.instance ?? '';
}

/** Throws unless the file has exactly the lines that were written. */
async function compareLines(staged: string, location: string, { about, bytes }: WrittenArchive, checksum: string) {
  const files = await filesOf(staged);
  const hash = createHash('sha256');
  let scans = 0;
  for await (const lines of linesOf(await sourceOf(files, staged, bytes))) {
    addLines(hash, lines);
    scans += lines.length;
  }
  if (scans !== about.scans || hash.digest('hex') !== checksum)
    throw new ArchiveError(`The archive file ${location} does not read back as it was written: nothing was moved.`);
}
