import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ArchiveFileMissing } from '../../src/archive/errors.ts';
import type { ArchiveFiles } from '../../src/archive/files.ts';
import { s3Files } from '../../src/archive/s3.ts';
import { filesAt, locationIn, readTarget } from '../../src/archive/store.ts';
import { startS3, type TestS3 } from '../support/s3.ts';

const folder = mkdtempSync(join(tmpdir(), 'scanlog-store-'));
let s3: TestS3;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(async () => {
  await s3.stop();
  rmSync(folder, { recursive: true });
});

const access = () => ({
  endpoint: s3.endpoint,
  region: undefined,
  accessKeyId: 'S3RVER',
  secretAccessKey: 'S3RVER',
});

/** More than one part of an upload. */
const content = new Uint8Array(17 * 1024 * 1024).fill(7);
content.set([1, 2, 3, 4], 16 * 1024 * 1024);

async function store(files: ArchiveFiles, location: string, bytes: Uint8Array): Promise<string> {
  const staged = await files.stage(location);
  writeFileSync(staged, bytes, { mode: 0o600 });
  await files.put(staged, location);
  await files.discard(staged);
  expect(existsSync(staged)).toBe(false);
  return location;
}

describe.each(['folder', 's3'] as const)('files in %s', (kind) => {
  const target = () => (kind === 'folder' ? folder : `s3://${s3.bucket}/some/prefix`);
  const files = () => filesAt(target(), access());

  test('are stored, read in parts and deleted', async () => {
    const location = await store(files(), locationIn(target(), 'a.parquet'), content);
    expect(await files().size(location)).toBe(content.length);
    const middle = 16 * 1024 * 1024;
    expect([...(await files().read(location, middle - 1, middle + 5))]).toEqual([7, 1, 2, 3, 4, 7]);
    if (kind === 'folder') expect(statSync(location).mode & 0o777).toBe(0o600);
    await files().delete(location);
    await files().delete(location);
    await expect(files().size(location)).rejects.toThrow(ArchiveFileMissing);
    await expect(files().read(location, 0, 1)).rejects.toThrow(`The archive file ${location} does not exist`);
  });

  test('are refused in one sentence when a read goes beyond the end', async () => {
    const location = await store(files(), locationIn(target(), 'b.parquet'), new Uint8Array(10));
    await expect(files().read(location, 5, 20)).rejects.toThrow(/^The archive file .* cannot be read: /);
  });
});

test('S3 that cannot be used is reported with its reason', async () => {
  const [location, other] = [`s3://${s3.bucket}/x`, 's3://no-such-bucket/x'];
  const size = (given: Partial<ReturnType<typeof access>>, at = location) =>
    s3Files({ ...access(), ...given }).size(at);
  await expect(size({ endpoint: 'http://127.0.0.1:1' })).rejects.toThrow(
    /^The archive file s3:\/\/\S+ cannot be read: S3 cannot be reached \(\w+\): check ARCHIVE_S3_ENDPOINT\.$/,
  );
  await expect(size({ secretAccessKey: 'wrong' })).rejects.toThrow(/ Check ARCHIVE_S3_ACCESS_KEY_ID and /);
  await expect(size({}, other)).rejects.toThrow(/ cannot be read: The specified bucket does not exist\.$/);
  writeFileSync(join(folder, 'big'), content);
  await expect(s3Files(access()).put(join(folder, 'big'), other)).rejects.toThrow(
    / cannot be written: The specified bucket/,
  );
});

test('a folder that cannot be written is reported', async () => {
  writeFileSync(join(folder, 'staged'), '');
  await expect(filesAt(folder, access()).put(join(folder, 'staged'), join(folder, 'none/a.parquet'))).rejects.toThrow(
    /^The archive file .*none\/a\.parquet cannot be written: /,
  );
});

test('--to is a folder or a place in S3', () => {
  expect(readTarget('s3://bucket/a/b/')).toBe('s3://bucket/a/b');
  expect(readTarget('s3://bucket')).toBe('s3://bucket');
  expect(readTarget('/var/archive/')).toBe('/var/archive');
  expect(readTarget('archive')).toBe(join(process.cwd(), 'archive'));
  expect(locationIn('s3://bucket/a', 'f')).toBe('s3://bucket/a/f');
  for (const wrong of ['', 's3://', 's3://B', 's3://bucket//a', 'https://example.com/x', 's3://bucket/a?b'])
    expect(() => readTarget(wrong), wrong).toThrow('--to must be a folder, or s3://bucket/prefix.');
});
