import { describe, expect, test } from 'vitest';
import { isScan } from '../../events/entry.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { appendScans, batchOf, sliceOf, UnprovenAppend } from '../../src/log/append-scans.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { useDatabase } from '../support/database.ts';
import { atOnce } from '../support/http.ts';
import { scanned, visitorNamed } from '../support/scans.ts';

const database = useDatabase();
const newWriter = () => newId('batch', Date.now());
const newCode = () => newId('qr', Date.now());

interface Stored {
  id: string;
  position: number;
  is_unique: boolean;
}

const storedOf = (code: string) =>
  database.sql<Stored[]>`SELECT id, position, is_unique FROM scans WHERE code = ${code} ORDER BY position`;

describe('a batch of scans', () => {
  test.each([
    ['at once', 6],
    ['one by one', 1],
  ])('is stored unchanged and in order: %s', async (_, size) => {
    const code = newCode();
    const scans = [
      scanned({ code, city: 'Saint-Jean "d\'Angély"', region: 'a\\b,{c}' }),
      scanned({
        code,
        country: 'XX',
        city: 'Unknown',
        is_bot: true,
        device: 'desktop',
        browser: 'other',
        mode: 'test',
      }),
      scanned({ code, city: '東京都', revision: 7, occurred_at: new Date('2026-02-28T23:59:59.987Z') }),
      scanned({ code, city: 'NULL', region: ' ' }),
      scanned({ code, rule: 'r7dKm2VbNcXz', variant: 'v3hXb9TkPqRw' }),
      scanned({ code, rule: 'f1ab' }),
    ];
    const before = await headOfLog(database.sql);
    const writer = newWriter();
    for (let from = 0; from < scans.length; from += size)
      await appendScans(database.sql, batchOf(writer, from + 1, scans.slice(from, from + size)));
    const { entries } = await readRange(database.sql, before, 1_000);
    const own = entries.filter(isScan).filter((entry) => entry.code === code);
    expect(own.map((entry) => entry.toJSON())).toEqual(
      scans.map((scan) => ({ ...scan, type: 'code_scanned', is_unique: true, position: expect.any(Number) })),
    );
  });

  test('sent again after a lost response, is stored once', async () => {
    const code = newCode();
    const batch = batchOf(newWriter(), 1, [scanned({ code }), scanned({ code })]);
    for (let i = 0; i < 3; i++) await appendScans(database.sql, batch);
    expect(await storedOf(code)).toHaveLength(2);
  });

  test.each([1, 2])('of %i sent 10 times at once is stored once', async (size) => {
    const code = newCode();
    const scans = Array.from({ length: size }, () => scanned({ code }));
    const batch = batchOf(newWriter(), 1, scans);
    await atOnce(10, () => appendScans(database.sql, batch));
    expect(await storedOf(code)).toHaveLength(size);
  });

  test('sent again after a newer batch of its writer, is stored once', async () => {
    const code = newCode();
    const writer = newWriter();
    const batches = [1, 2, 3].map((number) => batchOf(writer, number, [scanned({ code })]));
    for (const batch of [...batches, ...batches.toReversed()]) await appendScans(database.sql, batch);
    expect(await storedOf(code)).toHaveLength(3);
  });

  test('of one writer does not affect the batch numbers of another', async () => {
    const code = newCode();
    await appendScans(database.sql, batchOf(newWriter(), 9, [scanned({ code })]));
    await appendScans(database.sql, batchOf(newWriter(), 1, [scanned({ code })]));
    expect(await storedOf(code)).toHaveLength(2);
  });

  test('that is rolled back stores nothing, and can be sent again', async () => {
    const code = newCode();
    const batch = batchOf(newWriter(), 1, [scanned({ code })]);
    await expect(
      database.sql.begin(async (tx) => {
        await appendScans(tx as never, batch);
        throw new Error('the connection was lost');
      }),
    ).rejects.toThrow();
    expect(await storedOf(code)).toHaveLength(0);
    await appendScans(database.sql, batch);
    expect(await storedOf(code)).toMatchObject([{ is_unique: true }]);
  });
});

describe('is_unique', () => {
  test('is true for the first scan of a code by a visitor, within a batch and across batches', async () => {
    const code = newCode();
    const writer = newWriter();
    const by = (name: string) => scanned({ code, visitor: visitorNamed(`${code} ${name}`) });
    await appendScans(database.sql, batchOf(writer, 1, [by('a'), by('b'), by('a')]));
    await appendScans(database.sql, batchOf(writer, 2, [by('b'), by('c'), by('c')]));
    expect((await storedOf(code)).map(({ is_unique }) => is_unique)).toEqual([true, true, false, false, true, false]);
  });

  test('is true once for a visitor in concurrent batches of 20 writers', async () => {
    const code = newCode();
    const visitor = visitorNamed(code);
    await atOnce(20, () => appendScans(database.sql, batchOf(newWriter(), 1, [scanned({ code, visitor })])));
    const stored = await storedOf(code);
    expect(stored).toHaveLength(20);
    expect(stored.map(({ is_unique }) => is_unique)).toEqual([true, ...Array(19).fill(false)]);
  });

  test('is decided per code', async () => {
    const visitors = new Set<string>();
    for (const code of [newCode(), newCode()]) {
      const visitor = visitorNamed(code);
      visitors.add(visitor);
      await appendScans(database.sql, batchOf(newWriter(), 1, [scanned({ code, visitor })]));
      expect(await storedOf(code)).toMatchObject([{ is_unique: true }]);
    }
    expect(visitors.size).toBe(2);
  });
});

describe('proof that a batch is stored', () => {
  /** A connection that returns `responses` first, instead of what Postgres responds. */
  const answering = (responses: object[][]): Sql =>
    new Proxy(database.sql, {
      get: (target, name) =>
        name === 'unsafe'
          ? async (...query: Parameters<Sql['unsafe']>) => {
              const response = await target.unsafe(...query);
              return responses.shift() ?? response;
            }
          : Reflect.get(target, name),
    });

  const writer = newWriter();
  test.each([
    ['an empty response', []],
    ['the response to another batch', [{ writer, batch: 6, rows: 2 }]],
    ['the response to another writer', [{ writer: newWriter(), batch: 7, rows: 2 }]],
    ['fewer rows than were sent', [{ writer, batch: 7, rows: 1 }]],
    ['an older batch and no rows', [{ writer, batch: 6, rows: 0 }]],
    ['the row of another query', [{ position: 12 }]],
  ])('%s is not accepted', async (_, response) => {
    const batch = batchOf(writer, 7, [scanned(), scanned()]);
    await expect(appendScans(answering([response, response]), batch)).rejects.toThrow(UnprovenAppend);
  });

  test('after a response without proof, the batch is sent again and stored once', async () => {
    const code = newCode();
    await appendScans(answering([[]]), batchOf(newWriter(), 1, [scanned({ code }), scanned({ code })]));
    expect(await storedOf(code)).toHaveLength(2);
  });
});

test('a slice of a batch contains its scans unchanged, with the same writer and number each time', async () => {
  const code = newCode();
  const cities = ['plain', 'say "hi", {you}', 'back\\slash', '', ' ', 'Café 楽', 'NULL'];
  const scans = cities.map((city) => scanned({ code, city }));
  const batch = batchOf(newWriter(), 3, scans);
  expect(sliceOf(batch, 2, 5)).toEqual(sliceOf(batch, 2, 5));
  for (const [from, to] of [
    [0, 4],
    [4, 7],
    [0, 4],
  ] as const)
    await appendScans(database.sql, sliceOf(batch, from, to));
  const stored = await database.sql`SELECT id, city, is_unique FROM scans WHERE code = ${code} ORDER BY position`;
  expect([...stored]).toEqual(scans.map(({ id, city }) => ({ id, city, is_unique: true })));
});
