import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RecordedScan } from '../../events/scan.ts';
import { lineFields, lineOf, ScanLine } from '../../events/scan-line.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { readScans } from '../../src/log/scan-lines.ts';
import { useDatabase } from '../support/database.ts';
import { scanned } from '../support/scans.ts';

const database = useDatabase();

const place = fc.string({
  unit: fc.constantFrom('a', 'é', '東', '"', "'", '\\', '\t', '\n', '\r', 'n', 't', '{', ',', ' '),
});

const scans = fc.array(
  fc.record({
    region: place,
    city: place,
    is_bot: fc.boolean(),
    revision: fc.integer({ min: 1, max: 1_000 }),
    taken: fc.constantFrom({}, { rule: 'r1' }, { rule: 'r1', variant: 'v1' }),
    mode: fc.constantFrom('live' as const, 'test' as const),
    occurred_at: fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
  }),
  { minLength: 1, maxLength: 20 },
);

describe('a scan as a line', () => {
  test('round-trips, whether written by Postgres or by lineOf', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(scans, async (fields) => {
        const given = fields.map(({ taken, ...each }) => scanned({ ...each, ...taken }));
        const [{ head }] = await database.sql<[{ head: number }]>`SELECT coalesce(max(position), 0) AS head FROM scans`;
        await appendScans(database.sql, batchOf('a writer', ++number, given));
        const lines = await readScans(database.sql, head, Number.MAX_SAFE_INTEGER, 100);
        const expected = given.map((scan, i) => ({
          ...scan,
          type: 'code_scanned' as const,
          position: lines[i]?.position ?? -1,
          is_unique: true,
        }));
        expect(lines.map((line) => line.toJSON())).toEqual(expected);
        const ours = expected.map((scan) => new ScanLine(lineOf(scan)));
        for (const name of lineFields)
          expect(ours.map((scan) => scan[name])).toEqual(expected.map((scan) => scan[name]));
      }),
      { numRuns: 30 },
    );
  });

  test('has is_unique', () => {
    const scan: RecordedScan = { ...scanned(), type: 'code_scanned', position: 7, is_unique: false };
    expect(new ScanLine(lineOf(scan)).is_unique).toBe(false);
    expect(new ScanLine(lineOf({ ...scan, is_unique: true })).is_unique).toBe(true);
  });

  test('that is too short throws for every missing field', () => {
    const whole = lineOf({ ...scanned(), type: 'code_scanned', position: 7, is_unique: true });
    const fields = whole.split('\t');
    for (const [length, name] of lineFields.entries()) {
      const short = new ScanLine(fields.slice(0, length).join('\t'));
      if (length > 0) expect(() => short[name], name).toThrow(`A scan line ends before its field "${name}"`);
    }
    expect(() => new ScanLine('7\tqr_1').toJSON()).toThrow('ends before its field "is_unique"');
  });
});
