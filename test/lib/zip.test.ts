import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { type ZipEntry, zipOf } from '../../src/lib/zip.ts';
import { readZip } from '../support/zip.ts';

async function write(entries: ZipEntry[], at = new Date('2026-11-16T01:02:03Z')): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const all = (async function* () {
    yield* entries;
  })();
  for await (const piece of zipOf(all, at)) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('writes entries that its directory finds, with their names, sizes and checksums', async () => {
  const entries = [
    { name: 'menu.svg', bytes: Buffer.from('<svg/>') },
    { name: 'Tür.png', bytes: Buffer.from([0, 1, 2, 255]) },
    { name: 'empty.txt', bytes: Buffer.alloc(0) },
  ];
  const zip = await write(entries);
  expect(readZip(zip)).toEqual(
    entries.map(({ name, bytes }) => ({
      name,
      bytes: Buffer.from(bytes),
      crc: crc32(bytes),
      at: '2026-11-16T01:02:02',
    })),
  );
});

test('writes a valid file without entries', async () => {
  const zip = await write([]);
  expect(zip).toHaveLength(22);
  expect(readZip(zip)).toEqual([]);
});
