import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { codeOf, messageOf, StartError } from '../lib/errors.ts';
import { ArchiveError, ArchiveFileMissing } from './errors.ts';
import type { ArchiveFiles } from './files.ts';
import { type S3Access, s3Files } from './s3.ts';

const isS3 = (location: string) => location.startsWith('s3://');

/** `--to` as a prefix of locations: an absolute path, or `s3://bucket` with or without a prefix. */
export function readTarget(text: string): string {
  const target = text.replace(/\/+$/, '');
  if (!isS3(text)) {
    if (/^[a-z0-9]+:\/\//i.test(text) || text === '')
      throw new StartError('--to must be a folder, or s3://bucket/prefix.');
    return target === '' ? '/' : resolve(target);
  }
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[^\s/?#]+)*$/.test(target))
    throw new StartError('--to must be a folder, or s3://bucket/prefix.');
  return target;
}

export const locationIn = (target: string, name: string) => (isS3(target) ? `${target}/${name}` : join(target, name));

/** The files at a location. */
export function filesAt(location: string, s3: S3Access): ArchiveFiles {
  if (isS3(location)) return { ...s3Files(s3), stage: stageForUpload, discard: discardUpload };
  if (isAbsolute(location)) return folderFiles;
  throw new ArchiveError(`${location} is not the location of an archive file.`);
}

const unwritable = (location: string, error: unknown) =>
  new ArchiveError(`The archive file ${location} cannot be written: ${messageOf(error)}`);

const unreadable = (location: string, error: unknown) =>
  codeOf(error) === 'ENOENT'
    ? new ArchiveFileMissing(location)
    : new ArchiveError(`The archive file ${location} cannot be read: ${messageOf(error)}`);

const folderFiles: ArchiveFiles = {
  // In the same folder, because a rename works within one file system only.
  stage: async (location) => `${location}.part`,

  async put(staged, location) {
    try {
      await rename(staged, location);
      // The rename itself is durable only when the folder is synced.
      const folder = await open(dirname(location), 'r');
      await folder.sync().finally(() => folder.close());
    } catch (error) {
      throw unwritable(location, error);
    }
  },

  discard: (staged) => rm(staged, { force: true }),

  async size(location) {
    try {
      return (await stat(location)).size;
    } catch (error) {
      throw unreadable(location, error);
    }
  },

  async read(location, start, end) {
    try {
      const handle = await open(location, 'r');
      try {
        const bytes = new Uint8Array(end - start);
        for (let done = 0; done < bytes.length; ) {
          const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
          if (bytesRead === 0) throw new Error(`it ends before byte ${end}`);
          done += bytesRead;
        }
        return bytes;
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw unreadable(location, error);
    }
  },

  async delete(location) {
    try {
      await rm(location, { force: true });
      await rm(`${location}.part`, { force: true });
    } catch (error) {
      throw new ArchiveError(`The archive file ${location} cannot be deleted: ${messageOf(error)}`);
    }
  },
};

const stageForUpload = async () => join(await mkdtemp(join(tmpdir(), 'scanlog-archive-')), 'scans.parquet');
const discardUpload = (staged: string) => rm(dirname(staged), { recursive: true, force: true });
