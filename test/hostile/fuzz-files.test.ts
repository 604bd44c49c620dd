import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NewerVersion } from '../../events/wire/newer-version.ts';
import { ArchiveError } from '../../src/archive/errors.ts';
import { type ArchiveSource, openArchive, readBlock } from '../../src/archive/read.ts';
import { checkRows, maxRows, readTable } from '../../src/console/app/codes/import-rows.ts';
import { openMmdb } from '../../src/geo/mmdb.ts';
import { readPlaceBook } from '../../src/geo/places.ts';
import { parseAddress } from '../../src/lib/ip-address.ts';
import { mutated, mutatedText } from '../support/mutate.ts';

const require = createRequire(import.meta.url);

describe('a damaged geography database', () => {
  const folder = join(dirname(require.resolve('maxmind-test-data/package.json')), 'test/data/test-data');
  const city = readFileSync(join(folder, 'GeoIP2-City-Test.mmdb'));
  const metadataAt = city.lastIndexOf(Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'));
  const addresses = ['81.2.69.142', '2001:218::1', '0.0.0.0', 'ffff::'].map((text) => parseAddress(text) as Uint8Array);

  /** Refused with a reason, or usable for any address. */
  function expectUsable(bytes: Uint8Array): void {
    let book: ReturnType<typeof readPlaceBook>;
    try {
      book = readPlaceBook(bytes);
    } catch (error) {
      expect((error as Error).constructor, String(error)).toBe(Error);
      return;
    }
    for (const address of addresses) {
      const { country, region, city: name } = book.find(address);
      expect(country).toMatch(/^[A-Z]{2}$/);
      expect(Buffer.byteLength(region) + Buffer.byteLength(name)).toBeLessThanOrEqual(maxRecordBytes);
    }
    expect(book.builtAt.getTime(), 'a time').not.toBeNaN();
  }
  const maxRecordBytes = 64 * 1024;

  test('is refused, or read without an error, wherever it is damaged', () => {
    fc.assert(fc.property(mutated([city]), expectUsable), { numRuns: 500 });
  });

  test('is refused, or read without an error, if its metadata is damaged', () => {
    const metadata = mutated([city.subarray(metadataAt)]).map((tail) =>
      Buffer.concat([city.subarray(0, metadataAt), tail]),
    );
    fc.assert(fc.property(metadata, expectUsable), { numRuns: 1_500 });
  });

  const text = (value: string) => Buffer.concat([Buffer.of(0x40 | value.length), Buffer.from(value)]);
  const uint32 = (value: number) => Buffer.of(0xc4, value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255);
  /** A database with one record for all addresses. */
  function databaseOf(record: Buffer): Buffer {
    const fields: [string, Buffer][] = [
      ['node_count', uint32(1)],
      ['record_size', uint32(24)],
      ['ip_version', uint32(4)],
      ['binary_format_major_version', uint32(2)],
      ['build_epoch', uint32(1_700_000_000)],
      ['database_type', text('City')],
    ];
    const tree = Buffer.of(0, 0, 17, 0, 0, 17, ...new Uint8Array(16));
    const metadata = fields.flatMap(([name, value]) => [text(name), value]);
    const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
    return Buffer.concat([tree, record, marker, Buffer.of(0xe0 | fields.length), ...metadata]);
  }
  const first = (file: Buffer) => {
    const database = openMmdb(file);
    return database.read(database.first());
  };

  test('may be minimal', () => {
    expect(first(databaseOf(Buffer.concat([Buffer.of(0xe1), text('country_code'), text('DE')])))).toEqual({
      country_code: 'DE',
    });
  });

  test('is refused where a record repeats a long text', () => {
    // An array of 2,000 pointers to a text of 60,000 bytes after it: 120 MB.
    const count = Buffer.of(0x1e, 0x04, (2_000 - 285) >> 8, (2_000 - 285) & 255);
    const target = count.length + 2_000 * 3;
    const pointer = Buffer.of(0x28, (target - 2048) >> 8, (target - 2048) & 255);
    const long = Buffer.concat([Buffer.of(0x5e, (60_000 - 285) >> 8, (60_000 - 285) & 255), Buffer.alloc(60_000, 'x')]);
    const file = databaseOf(Buffer.concat([count, ...Array.from({ length: 2_000 }, () => pointer), long]));
    expect(() => first(file)).toThrow(/^one of its records is too large/);
  });

  test('is refused where the name of a field is a map', () => {
    expect(() => first(databaseOf(Buffer.of(0xe1, 0xe0, 0xe0)))).toThrow(
      new Error('one of its records has a name that is not text'),
    );
  });

  test('is refused where a number has more bytes than any', () => {
    const number = Buffer.concat([Buffer.of(0xde, (60_000 - 285) >> 8, (60_000 - 285) & 255), Buffer.alloc(60_000, 1)]);
    expect(() => first(databaseOf(number))).toThrow(/^one of its records is too large/);
  });
});

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
