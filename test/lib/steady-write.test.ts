import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { steadyWrite } from '../../src/lib/steady-write.ts';

test('a long file is synced with each MiB, and has all that was written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'scanlog-steady-'));
  const file = await open(join(folder, 'file'), 'w');
  const syncedAt: number[] = [];
  let bytes = 0;
  const write = steadyWrite({
    writeFile: async (data) => {
      await file.writeFile(data);
      bytes += (data as Uint8Array).length;
    },
    datasync: async () => {
      await file.datasync();
      syncedAt.push(bytes);
    },
  });
  const chunks = Array.from({ length: 11 }, (_, i) => Buffer.alloc(256 * 1024, i + 1));
  for (const chunk of chunks) await write(chunk);
  await file.close();
  expect(syncedAt).toEqual([1024 ** 2, 2 * 1024 ** 2]);
  expect((await readFile(join(folder, 'file'))).equals(Buffer.concat(chunks))).toBe(true);
  await rm(folder, { recursive: true });
});
