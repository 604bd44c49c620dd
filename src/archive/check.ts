import { createHash } from 'node:crypto';
import { ArchiveError } from './errors.ts';
import type { ArchiveFiles } from './files.ts';
import { type ArchiveSource, openArchive, readBlock } from './read.ts';

const chunkBytes = 8 * 1024 * 1024;

/** The source of a stored file; throws if it has another size than expected. */
export async function sourceOf(files: ArchiveFiles, location: string, bytes: number): Promise<ArchiveSource> {
  const size = await files.size(location);
  if (size !== bytes) throw new ArchiveError(`The archive file ${location} has ${size} bytes instead of ${bytes}.`);
  return { location, bytes, read: (start, end) => files.read(location, start, end) };
}

/** Reads a whole file and throws unless it has this checksum. */
export async function checkSha256({ location, bytes, read }: ArchiveSource, sha256: string): Promise<void> {
  const checksum = createHash('sha256');
  for (let start = 0; start < bytes; start += chunkBytes)
    checksum.update(await read(start, Math.min(start + chunkBytes, bytes)));
  if (checksum.digest('hex') !== sha256)
    throw new ArchiveError(`The archive file ${location} has changed since it was written: its checksum is wrong.`);
}

/** The lines of a file, block by block. */
export async function* linesOf(source: ArchiveSource): AsyncGenerator<string[]> {
  const archive = await openArchive(source);
  for (const { index } of archive.blocks) yield readBlock(archive, index);
}
