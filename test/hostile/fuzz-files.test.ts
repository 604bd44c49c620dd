import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NewerVersion } from '../../events/wire/newer-version.ts';
import { ArchiveError } from '../../src/archive/errors.ts';
import { type ArchiveSource, openArchive, readBlock } from '../../src/archive/read.ts';
import { checkRows, maxRows, readTable } from '../../src/console/app/codes/import-rows.ts';
import { mutated, mutatedText } from '../support/mutate.ts';

describe('a damaged archive file', () => {
  const file = readFileSync(fileURLToPath(new URL('../fixtures/archive/archive-1.parquet', import.meta.url)));
  const intact = file.length;

  /** Reads all blocks; returns how many bytes were read of the file. */
  async function readAll(bytes: Buffer): Promise<number> {
    let read = 0;
    const source: ArchiveSource = {
      location: 'archive-1.parquet',
      bytes: bytes.length,
      async read(start, end) {
        expect(0 <= start && start <= end && end <= bytes.length, `bytes ${start} to ${end}`).toBe(true);
        read += end - start;
        return bytes.subarray(start, end);
      },
    };
    const archive = await openArchive(source);
    for (const { index, scans } of archive.blocks) {
      const lines = await readBlock(archive, index);
      expect(lines).toHaveLength(scans);
      for (const line of lines) expect(typeof line).toBe('string');
    }
    return read;
  }

  test('is refused before it is read if a column has another name', async () => {
    const renamed = Buffer.from(file);
    renamed.write('varianx', renamed.lastIndexOf('variant'));
    await expect(readAll(renamed)).rejects.toThrow(
      / is not a complete archive file of Scanlog: its footer says imposs/,
    );
  });

  test('is refused before a value is repeated billions of times', async () => {
    const endless = Buffer.from(file);
    // In the header of a page, whose levels end before the levels of all its values.
    endless[1_595] = 0x11;
    await expect(readAll(endless)).rejects.toThrow(
      / is not a complete archive file of Scanlog: its block 1 is damaged/,
    );
  });

  test('is refused as such, wherever it is damaged', async () => {
    expect(await readAll(file)).toBeLessThan(3 * intact);
    const footer = file.length - 8 - file.readUInt32LE(file.length - 8);
    const inFooter = mutated([file.subarray(footer, -8)]).map((middle) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(middle.length);
      return Buffer.concat([file.subarray(0, footer), middle, length, Buffer.from('PAR1')]);
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutated([file]), inFooter), async (bytes) => {
        const read = await readAll(bytes).catch((error) => {
          if (error instanceof ArchiveError || error instanceof NewerVersion) return 0;
          throw error;
        });
        expect(read).toBeLessThan(20 * intact);
      }),
      { numRuns: 600 },
    );
  });
});

test('a mutated table to import has rows with errors, and no exception', () => {
  const tables = [
    'name,destination_url,short_code,max_scans,starts_at,tags\nMenu,https://example.com/,abc,5,2026-03-01 09:00,"a,b"\n',
    'Name;Link;dots;background;logo\r\n"Menu ""A""";example.com;rounded;#fff;logo_1\r\n',
    '\ufeffMenu\thttps://example.com/ä\n',
  ];
  const context = { shortBaseUrl: 'https://s.example', ownUrls: [], timeZone: 'Europe/Berlin' };
  fc.assert(
    fc.property(mutatedText(tables), (text) => {
      const { rows, error } = readTable(text);
      expect(rows.length).toBeLessThanOrEqual(maxRows);
      const checked = checkRows(rows, context);
      if (error === undefined) expect(checked).toHaveLength(rows.length);
      for (const { errors } of checked) for (const { message } of errors) expect(message).not.toContain('undefined');
    }),
    { numRuns: 1_000 },
  );
});
