import { describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { appendScans, batchOf, mergeBatches, PartlyStored, type ScanBatch } from '../../src/log/append-scans.ts';
import { useDatabase } from '../support/database.ts';
import { atOnce } from '../support/http.ts';
import { scanned, visitorNamed } from '../support/scans.ts';

const database = useDatabase();
const newCode = () => newId('qr', Date.now());

/** Batches 1 to `count` of a new writer, with two scans each. */
function batchesOf(code: string, count: number): [ScanBatch, ...ScanBatch[]] {
  const writer = newId('batch', Date.now());
  const batch = (number: number) => batchOf(writer, number, [scanned({ code }), scanned({ code })]);
  return [batch(1), ...Array.from({ length: count - 1 }, (_, i) => batch(i + 2))];
}

const some = (batches: ScanBatch[], from: number, to: number) =>
  mergeBatches(batches.slice(from - 1, to) as [ScanBatch, ...ScanBatch[]]);
const idsOf = (batches: ScanBatch[]) => batches.flatMap(({ columns }) => columns.id.slice(1, -1).split(','));
const storedOf = async (code: string) =>
  (await database.sql<{ id: string }[]>`SELECT id FROM scans WHERE code = ${code} ORDER BY position`).map(
    ({ id }) => id,
  );

describe('merged batches', () => {
  test('are stored in order by one statement, and once if they are sent again', async () => {
    const code = newCode();
    const batches = batchesOf(code, 20);
    for (let i = 0; i < 2; i++) await appendScans(database.sql, mergeBatches(batches));
    for (const batch of batches) await appendScans(database.sql, batch);
    expect(await storedOf(code)).toEqual(idsOf(batches));
  });

  test('are stored once if other batches are merged when they are sent again', async () => {
    const code = newCode();
    const batches = batchesOf(code, 8);
    await appendScans(database.sql, some(batches, 1, 5));
    const again = appendScans(database.sql, some(batches, 3, 8));
    await expect(again).rejects.toBeInstanceOf(PartlyStored);
    await expect(again).rejects.toMatchObject({ storedTo: 5 });
    expect(await storedOf(code), 'nothing of it was stored').toEqual(idsOf(batches.slice(0, 5)));
    await appendScans(database.sql, some(batches, 6, 8));
    await appendScans(database.sql, some(batches, 2, 7));
    expect(await storedOf(code)).toEqual(idsOf(batches));
  });

  test('may have gaps in their numbers, of batches that no disk has stored', async () => {
    const code = newCode();
    const [first, , third, , fifth] = batchesOf(code, 5);
    if (first === undefined || third === undefined || fifth === undefined) throw new Error('no batches');
    await appendScans(database.sql, first);
    await appendScans(database.sql, mergeBatches([third, fifth]));
    expect(await storedOf(code)).toEqual(idsOf([first, third, fifth]));
  });

  test('of which several overlap are stored once, whichever comes first', async () => {
    const code = newCode();
    const batches = batchesOf(code, 6);
    /** As the drain does: sends what is not stored yet, until everything is. */
    const send = async (from: number): Promise<void> => {
      await appendScans(database.sql, some(batches, from, 6)).catch((error) => {
        if (!(error instanceof PartlyStored)) throw error;
        return send(error.storedTo + 1);
      });
    };
    await Promise.all([
      ...(await atOnce(4, async () => send(1))),
      appendScans(database.sql, some(batches, 1, 2)).catch(() => undefined),
      appendScans(database.sql, some(batches, 1, 4)).catch(() => undefined),
    ]);
    await send(1);
    expect(await storedOf(code)).toEqual(idsOf(batches));
  });

  test('count a visitor of several batches once', async () => {
    const code = newCode();
    const visitor = visitorNamed(code);
    const batch = (number: number) => batchOf(code, number, [scanned({ code, visitor }), scanned({ code })]);
    await appendScans(database.sql, mergeBatches([batch(1), batch(2), batch(3)]));
    const unique = await database.sql`SELECT FROM scans WHERE code = ${code} AND is_unique`;
    expect(unique).toHaveLength(4);
  });

  test('keep the rules of scans that have one', async () => {
    const code = newCode();
    const taken = { rule: 'r7dKm2VbNcXz', variant: 'v3hXb9TkPqRw' };
    const batches = [{}, taken, {}].map((fields, i) => batchOf(code, i + 1, [scanned({ code, ...fields })]));
    await appendScans(database.sql, some(batches, 1, 3));
    const rows = await database.sql`SELECT rule, variant FROM scans WHERE code = ${code} ORDER BY position`;
    const none = { rule: null, variant: null };
    expect([...rows]).toEqual([none, taken, none]);
  });
});
