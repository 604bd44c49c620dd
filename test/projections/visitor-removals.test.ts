import { beforeAll, describe, expect, test } from 'vitest';
import { counters } from '../../projections/counters.ts';
import { visitorRemovals } from '../../projections/visitor-removals.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { remove } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { newId } from '../../src/lib/ids.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { readRange } from '../../src/log/read.ts';
import { useDatabase } from '../support/database.ts';
import { scanned, visitorNamed } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const by = { actor: 'operator', now: new Date() };
const manyVisitors = 30_000;
const chunkRows = 2_500;
const maxRowsPerStatement = 5_000;

// Fails every statement that deletes more visitors than one chunk may.
beforeAll(async () => {
  await database.sql.unsafe(`
    ALTER TABLE visitors SET UNLOGGED;
    CREATE FUNCTION refuse_large_delete() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM removed) > ${maxRowsPerStatement} THEN RAISE 'one statement deletes too many visitors'; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER refuse_large_delete AFTER DELETE ON visitors REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_large_delete();`);
});

interface OwnedCode {
  id: string;
  owner: { account: string; mode: 'live' };
}

async function createCode(): Promise<OwnedCode> {
  const { id: account } = await createAccount(database.sql, { name: 'Test', plan: 'enterprise', now: by.now });
  const owner = { account, mode: 'live' as const };
  const request = { name: 'Menu', destination_url: 'https://example.com' };
  const [made] = await database.sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
  return { id: made?.code.id ?? '', owner };
}

/** Adds visitors to a code, spread over all values. */
async function addVisitors({ id }: OwnedCode, count: number): Promise<void> {
  await database.sql`
    INSERT INTO visitors
    SELECT hashtextextended(${id}, 0), (lpad(to_hex(n * 100000), 8, '0') || repeat('0', 24))::uuid
    FROM generate_series(0, ${count - 1}::bigint) AS n`;
}

async function scan({ id }: OwnedCode, count: number): Promise<void> {
  const scans = Array.from({ length: count }, (_, i) => scanned({ code: id, visitor: visitorNamed(`${id} ${i}`) }));
  await appendScans(database.sql, batchOf(newId('batch', Date.now()), 1, scans));
}

/** Applies the log to the counters, without removing visitors. */
async function catchUp(): Promise<void> {
  const { sql } = database;
  for (let position = await counters.checkpoint(sql); ; ) {
    const range = await readRange(sql, position, 1_000);
    if (range.to === position) return;
    await counters.apply(sql, range);
    position = range.to;
  }
}

const countOf = async ({ id }: OwnedCode): Promise<number | undefined> =>
  (await database.sql`SELECT total_scans FROM scan_counts WHERE code = ${id}`)[0]?.['total_scans'];

const visitorsOf = async ({ id }: OwnedCode): Promise<number> =>
  (await database.sql`SELECT count(*) FROM visitors WHERE code_hash = hashtextextended(${id}, 0)`)[0]?.['count'];

async function removeAll(maxRows: number): Promise<number> {
  let chunks = 0;
  while (await visitorRemovals.removeChunk(database.sql, maxRows)) chunks++;
  return chunks;
}

describe('visitors of a deleted code', () => {
  test('are removed in chunks, 30,000 of them, while other codes are counted', async () => {
    const [gone, stays] = [await createCode(), await createCode()];
    await addVisitors(gone, manyVisitors);
    await addVisitors(stays, 5_000);
    await remove(database.sql, gone.owner, gone.id, by);
    await catchUp();
    expect(await countOf(gone)).toBeUndefined();

    // Stops after some chunks, as after a crash; other codes are still counted.
    for (let i = 0; i < 3; i++) expect(await visitorRemovals.removeChunk(database.sql, chunkRows)).toBe(true);
    expect(await visitorsOf(gone)).toBe(manyVisitors - 3 * chunkRows);
    await scan(stays, 7);
    await catchUp();
    expect(await countOf(stays)).toBe(7);

    expect(await removeAll(chunkRows), 'continues after the last chunk').toBe(manyVisitors / chunkRows - 3);
    expect(await visitorsOf(gone)).toBe(0);
    expect(await visitorsOf(stays)).toBe(5_007);
    expect(await database.sql`SELECT * FROM visitor_removals`).toEqual([]);
  });

  test('are removed too when scans from a spool add them during the removal', async () => {
    const code = await createCode();
    await addVisitors(code, 1_000);
    await remove(database.sql, code.owner, code.id, by);
    await catchUp();
    for (let i = 0; i < 8; i++) await visitorRemovals.removeChunk(database.sql, 100);
    await scan(code, 500);
    await catchUp();
    await removeAll(100);
    expect([await countOf(code), await visitorsOf(code)]).toEqual([undefined, 0]);

    await scan(code, 30);
    await catchUp();
    await removeAll(100);
    expect(await visitorsOf(code), 'added after the last chunk').toBe(0);
  });

  test('are all removed by several processes at once, also those that scans add meanwhile', async () => {
    const codes = [await createCode(), await createCode(), await createCode()];
    for (const code of codes) {
      await addVisitors(code, 500);
      await remove(database.sql, code.owner, code.id, by);
    }
    await catchUp();
    const adding = (async () => {
      for (let i = 0; i < 10; i++) {
        for (const code of codes) await scan(code, 40);
        await catchUp();
      }
    })();
    await Promise.all([adding, removeAll(50), removeAll(50), removeAll(50)]);
    await removeAll(50);
    expect(await Promise.all(codes.map(visitorsOf))).toEqual([0, 0, 0]);
  });

  test('are scheduled for removal by a rebuild of the counters', async () => {
    const code = await createCode();
    await addVisitors(code, 6_000);
    await remove(database.sql, code.owner, code.id, by);
    await counters.rebuild(database.sql);
    expect(await visitorsOf(code), 'not in the transaction of the rebuild').toBe(6_000);
    await removeAll(chunkRows);
    expect(await visitorsOf(code)).toBe(0);
  });
});
