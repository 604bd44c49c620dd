import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { lineOf } from '../../events/scan-line.ts';
import { checkSha256, linesOf, sourceOf } from '../../src/archive/check.ts';
import { ArchiveError } from '../../src/archive/errors.ts';
import { ArchiveWriter, archiveFormat } from '../../src/archive/format.ts';
import { openArchive, readBlock } from '../../src/archive/read.ts';
import { filesAt } from '../../src/archive/store.ts';
import { scanned } from '../support/scans.ts';

const folder = mkdtempSync(join(tmpdir(), 'scanlog-format-'));
afterAll(() => rmSync(folder, { recursive: true }));
const noAccess = { endpoint: undefined, region: undefined, accessKeyId: undefined, secretAccessKey: undefined };
const files = filesAt(folder, noAccess);

const uuid = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
/** A line as Postgres writes it: with the visitor as uuid, and the time with microseconds and no trailing zeros. */
const lineAt = (position: number, fields: Parameters<typeof scanned>[0] = {}, micros = '') => {
  const scan = { ...scanned(fields), type: 'code_scanned' as const, position, is_unique: position % 2 === 0 };
  const line = lineOf({ ...scan, visitor: uuid(scan.visitor) }).split('\t');
  line[6] = (line[6] as string).replace(/\.\d{3}$/, micros === '' ? '' : `.${micros}`);
  return line.join('\t');
};

async function write(name: string, blocks: string[][]) {
  const path = join(folder, name);
  const writer = await ArchiveWriter.create(path);
  for (const lines of blocks) await writer.add(lines);
  const written = await writer.finish({ from: 1, to: 1_000, instance: 'abc' });
  await writer.close();
  return { path, ...written };
}

async function readAll(path: string, bytes = statSync(path).size): Promise<string[][]> {
  const blocks: string[][] = [];
  for await (const lines of linesOf(await sourceOf(files, path, bytes))) blocks.push(lines);
  return blocks;
}

describe('an archive file', () => {
  const blocks = [
    [
      lineAt(1, { city: 'Tab\t, "quotes", \\ and \n line', region: '\r' }),
      lineAt(2, { city: '京都 🙂', region: '', country: '', rule: 'rule_1', variant: 'b' }, '000001'),
      lineAt(3, { is_bot: true, revision: 2_147_483_647, mode: 'test' }, '1'),
      lineAt(4, { occurred_at: new Date(0), variant: 'a' }, '999999'),
    ],
    [lineAt(Number.MAX_SAFE_INTEGER, { occurred_at: new Date('9999-12-31T23:59:59Z') }, '12')],
  ];

  test('keeps no text of its blocks in memory while it is written', async () => {
    const writer = await ArchiveWriter.create(join(folder, 'large.parquet'));
    const region = 'x'.repeat(20_000);
    /** Lines that are parts of one text, as Postgres sends them: 4 MB. */
    const linesOfBlock = (block: number) => {
      const lines = Array.from({ length: 200 }, (_, i) => lineAt(block * 200 + i + 1, { region }));
      return Buffer.from(lines.join('\n')).toString().split('\n');
    };
    const heapBytes = () => {
      Bun.gc(true);
      return process.memoryUsage().heapUsed;
    };
    await writer.add(linesOfBlock(0));
    const before = heapBytes();
    for (let block = 1; block <= 10; block++) await writer.add(linesOfBlock(block));
    expect(heapBytes() - before, 'of 40 MB').toBeLessThan(20_000_000);
    await writer.close();
  });

  test('has exactly the lines that were written, block by block', async () => {
    const { path, bytes, sha256, about } = await write('odd.parquet', blocks);
    expect(await readAll(path, bytes)).toEqual(blocks);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await checkSha256(await sourceOf(files, path, bytes), sha256);
    const archive = await openArchive(await sourceOf(files, path, bytes));
    expect(archive.about).toEqual({ ...about, from: 1, to: 1_000, scans: 5, instance: 'abc' });
    expect(about).toMatchObject({ earliest: '1970-01-01T00:00:00.999999Z', latest: '9999-12-31T23:59:59.12Z' });
    expect(archive.blocks).toMatchObject([
      { first: 1, last: 4, scans: 4 },
      { first: Number.MAX_SAFE_INTEGER, last: Number.MAX_SAFE_INTEGER, scans: 1 },
    ]);
    expect(await readBlock(archive, 1)).toEqual(blocks[1]);
  });

  test('keeps any text', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 }).map((value) => value.replaceAll('\0', ''));
    const scans = fc.array(
      fc.record({ city: text, region: text, country: text.filter((value) => !/[\\\t\n\r]/.test(value)) }),
      { minLength: 1, maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(scans, async (given) => {
        const lines = given.map((fields, index) => lineAt(index + 1, fields));
        const { path } = await write('any.parquet', [lines]);
        expect(await readAll(path)).toEqual([lines]);
      }),
      { numRuns: 20 },
    );
  });

  test('can be without scans', async () => {
    const { path, about } = await write('empty.parquet', []);
    expect(await readAll(path)).toEqual([]);
    expect(about).toMatchObject({ scans: 0, earliest: '', latest: '' });
  });

  test('of version 1 stays readable', async () => {
    const fixture = fileURLToPath(new URL('../fixtures/archive/archive-1.parquet', import.meta.url));
    const expected = readFileSync(fixture.replace('.parquet', '.txt'), 'utf8').trimEnd().split('\n\n');
    expect((await readAll(fixture)).map((lines) => lines.join('\n'))).toEqual(expected);
    expect(archiveFormat, 'a new version needs a new fixture').toBe(1);
  });

  test('that is damaged, cut off or of another size is refused in one sentence', async () => {
    const { path, bytes, sha256 } = await write('damaged.parquet', blocks);
    const content = readFileSync(path);
    content[40] = (content[40] as number) ^ 1;
    writeFileSync(path, content);
    await expect(checkSha256(await sourceOf(files, path, bytes), sha256)).rejects.toThrow(
      /^The archive file .* has changed since it was written: its checksum is wrong\.$/,
    );
    writeFileSync(path, content.subarray(0, 100));
    await expect(sourceOf(files, path, bytes)).rejects.toThrow(/ has 100 bytes instead of \d+\.$/);
    await expect(readAll(path, 100)).rejects.toThrow(/ is not a complete archive file of Scanlog: /);
    await expect(readAll(join(folder, 'none.parquet'), 100)).rejects.toThrow(/ does not exist/);
    await expect(readAll(join(folder, 'none.parquet'), 100)).rejects.toThrow(ArchiveError);
  });
});
