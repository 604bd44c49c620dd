import { describe, expect, test } from 'vitest';
import { Superseded } from '../../projections/checkpoint.ts';
import { counters } from '../../projections/counters.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { remove } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { newId } from '../../src/lib/ids.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { removeAllVisitors } from '../../src/maintenance/visitor-removal.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { scanned, visitorNamed } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';
import { dumpTable } from '../support/tables.ts';

const database = useDatabase();
const by = { actor: 'operator', now: new Date() };

interface OwnedCode {
  id: string;
  owner: { account: string; mode: 'live' };
}

async function newCode(): Promise<OwnedCode> {
  const { id: account } = await createAccount(database.sql, { name: 'Test', plan: 'enterprise', now: by.now });
  const owner = { account, mode: 'live' as const };
  const request = { name: 'Menu', destination_url: 'https://example.com' };
  const [created] = await database.sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
  return { id: created?.code.id ?? '', owner };
}

/** Appends `count` scans of a code, by `visitors` visitors in turn. */
async function scan({ id }: OwnedCode, count: number, visitors = count): Promise<void> {
  const scans = Array.from({ length: count }, (_, i) =>
    scanned({ code: id, visitor: visitorNamed(`${id} ${i % visitors}`) }),
  );
  await appendScans(database.sql, batchOf(newId('batch', Date.now()), 1, scans));
}

async function catchUp(maxEntries = 1_000): Promise<void> {
  const { sql } = database;
  for (let position = await counters.checkpoint(sql); ; ) {
    const range = await readRange(sql, position, maxEntries);
    if (range.to === position) return;
    await counters.apply(sql, range);
    position = range.to;
  }
}

const countOf = async ({ id }: OwnedCode) => {
  const [row] = await database.sql`SELECT total_scans, unique_scans FROM scan_counts WHERE code = ${id}`;
  return row === undefined ? undefined : [row['total_scans'], row['unique_scans']];
};

const visitorsOf = async ({ id }: OwnedCode) => {
  const [row] = await database.sql<[{ count: number }]>`
    SELECT count(*) FROM visitors WHERE code_hash = hashtextextended(${id}, 0)`;
  return row.count;
};

describe('scan counters', () => {
  test('count scans and visitors of each code, when ranges split batches', async () => {
    const [one, other] = [await newCode(), await newCode()];
    await scan(one, 10, 3);
    await scan(other, 4);
    await scan(one, 5, 3);
    await catchUp(3);
    expect([await countOf(one), await countOf(other)]).toEqual([
      [15, 3],
      [4, 4],
    ]);
  });

  test('refuse a range that is already applied, and change nothing', async () => {
    const code = await newCode();
    await catchUp();
    const before = await counters.checkpoint(database.sql);
    await scan(code, 3);
    const range = await readRange(database.sql, before, 100);
    await counters.apply(database.sql, range);
    await expect(counters.apply(database.sql, range)).rejects.toThrow(Superseded);
    expect(await countOf(code)).toEqual([3, 3]);
  });

  test('apply a range once when three processes apply it concurrently', async () => {
    const code = await newCode();
    await catchUp();
    await scan(code, 5);
    const range = await readRange(database.sql, await counters.checkpoint(database.sql), 100);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => counters.apply(database.sql, range)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await countOf(code)).toEqual([5, 5]);
  });

  test('apply nothing to invalid counts, which contain the log already, until they are rebuilt', async () => {
    const code = await newCode();
    await scan(code, 3);
    await catchUp();
    const { sql } = database;
    await sql.begin((tx) => counters.invalidate(tx));
    const invalid = await counters.checkpoint(sql);
    await expect(counters.apply(sql, await readRange(sql, invalid, 1_000))).rejects.toThrow(Superseded);
    await counters.rebuild(sql);
    expect(await countOf(code)).toEqual([3, 3]);
  });

  test('go on while a rebuild counts the log, which then has their scans too', async () => {
    const code = await newCode();
    await scan(code, 3);
    await catchUp();
    const { sql } = database;
    let rebuilt: Promise<void> = Promise.resolve();
    await sql.begin(async (tx) => {
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
      // Read by a rebuild, but not by the counters.
      await tx`LOCK TABLE dropped_scans IN ACCESS EXCLUSIVE MODE`;
      rebuilt = counters.rebuild(sql);
      await eventually(async () => {
        const waiting = await sql`SELECT 1 FROM pg_locks WHERE relation = 'dropped_scans'::regclass AND NOT granted`;
        expect(waiting).toHaveLength(1);
      });
      await scan(code, 2);
      await catchUp();
      expect(await countOf(code)).toEqual([5, 3]);
    });
    await rebuilt;
    expect(await countOf(code)).toEqual([5, 3]);
    expect(await counters.checkpoint(sql)).toBe(await headOfLog(sql));
  });

  test('refuse a range that does not start at the checkpoint', async () => {
    const code = await newCode();
    await catchUp();
    await scan(code, 5);
    const checkpoint = await counters.checkpoint(database.sql);
    await expect(counters.apply(database.sql, await readRange(database.sql, checkpoint + 2, 100))).rejects.toThrow();
    expect(await counters.checkpoint(database.sql)).toBe(checkpoint);
    await catchUp();
    expect(await countOf(code)).toEqual([5, 5]);
  });
});

describe('a deleted code', () => {
  test('loses its counts and visitors, and other codes keep theirs', async () => {
    const [gone, stays] = [await newCode(), await newCode()];
    for (const code of [gone, stays]) await scan(code, 3);
    await catchUp();
    await remove(database.sql, gone.owner, gone.id, by);
    await catchUp();
    await removeAllVisitors(database.sql);
    expect([await countOf(gone), await visitorsOf(gone)]).toEqual([undefined, 0]);
    expect([await countOf(stays), await visitorsOf(stays)]).toEqual([[3, 3], 3]);
  });

  test('has no counts and visitors when scans arrive from a spool after its deletion', async () => {
    const code = await newCode();
    await remove(database.sql, code.owner, code.id, by);
    await catchUp();
    await scan(code, 3);
    await catchUp();
    await removeAllVisitors(database.sql);
    expect([await countOf(code), await visitorsOf(code)]).toEqual([undefined, 0]);
  });
});

describe('a replay of the state', () => {
  test('creates the same rows, without rows of deleted codes', async () => {
    const codes = [await newCode(), await newCode(), await newCode()];
    for (const [i, code] of codes.entries()) await scan(code, 10 + i, 4);
    const [gone] = codes as [OwnedCode];
    await remove(database.sql, gone.owner, gone.id, by);
    await scan(gone, 2);
    await catchUp();
    const before = await dumpTable(database.sql, 'scan_counts');
    await replayState(database.sql);
    expect(await dumpTable(database.sql, 'scan_counts')).toEqual(before);
    expect(await counters.checkpoint(database.sql)).toBe(await headOfLog(database.sql));
  });

  test('corrects rows that are wrong', async () => {
    const [code, other] = [await newCode(), await newCode()];
    await scan(code, 5);
    await scan(other, 2);
    await catchUp();
    await database.sql`UPDATE scan_counts SET total_scans = 77 WHERE code = ${code.id}`;
    await database.sql`DELETE FROM scan_counts WHERE code = ${other.id}`;
    await replayState(database.sql);
    expect([await countOf(code), await countOf(other)]).toEqual([
      [5, 5],
      [2, 2],
    ]);
  });

  test('removes the visitors of a code whose deletion the counters had not applied', async () => {
    const code = await newCode();
    await scan(code, 3);
    await remove(database.sql, code.owner, code.id, by);
    await replayState(database.sql);
    await catchUp();
    expect([await countOf(code), await visitorsOf(code)]).toEqual([undefined, 0]);
  });

  test('counts every scan once while scans continue and are counted', async () => {
    const code = await newCode();
    let scanning = true;
    let scans = 0;
    const scanner = (async () => {
      while (scanning) {
        await scan(code, 4, 1);
        scans += 4;
      }
    })();
    const projecting = (async () => {
      // Like the runner, it restarts from the stored checkpoint when the replay has moved it.
      while (scanning) await catchUp(10).catch(() => {});
    })();
    for (let i = 0; i < 5; i++) await replayState(database.sql);
    scanning = false;
    await Promise.all([scanner, projecting]);
    await catchUp();
    expect(await countOf(code)).toEqual([scans, 1]);
  });
});
