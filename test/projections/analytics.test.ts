import { afterAll, afterEach, describe, expect, inject, test } from 'vitest';
import { Analytics, type AnalyticsOptions } from '../../projections/analytics.ts';
import { rebuildAnalytics } from '../../projections/analytics-rebuild.ts';
import type { ScanTables } from '../../projections/warehouse-tables.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { connectWarehouse } from '../../src/analytics/connect.ts';
import { scanTables } from '../../src/analytics/scan-tables.ts';
import { remove } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { newId } from '../../src/lib/ids.ts';
import { append } from '../../src/log/append.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { locks } from '../../src/log/locks.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { readScanText } from '../../src/log/scan-lines.ts';
import { replayAnalytics } from '../../src/maintenance/replay-analytics.ts';
import { uniqueName } from '../support/database.ts';
import { useEmptiedDatabase } from '../support/emptied.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';
import { manualTimers } from '../support/timers.ts';

const by = { actor: 'operator', now: new Date() };
const immediately = { everyMs: 0, maxAhead: 0, maxPollMs: 0, retryFailedMs: 0, retryAcceptedMs: 3_600_000 };
const database = useEmptiedDatabase();
const { clickhouseUrl } = inject('stack');
const warehouse = connectWarehouse({ clickhouseUrl, clickhouseDatabase: uniqueName(), clickhouseCluster: undefined });
afterEach(() => warehouse.client.command({ query: `DROP DATABASE IF EXISTS ${warehouse.database}` }));
afterAll(() => warehouse.client.close());

/** The projection in one process; `tables` replaces operations on ClickHouse, to make them fail. */
function analytics(
  tables: Partial<ScanTables> = {},
  { rebuildAfterMs = 0, ...options }: Partial<Pick<AnalyticsOptions, 'rebuildAfterMs' | 'removal' | 'timers'>> = {},
) {
  const { sql } = database;
  const projection = new Analytics({
    sql,
    tables: { ...scanTables(warehouse), ...tables },
    readScans: (piece) => readScanText(sql, piece),
    rebuild: async () => {
      await replayAnalytics({ sql, warehouse });
    },
    onFailure: () => {},
    rebuildAfterMs,
    everyMs: { maintain: 0, count: 0 },
    removal: immediately,
    ...options,
  });
  /** Applies the rest of the log, in ranges of `maxEntries`. */
  const catchUp = async (maxEntries = 1_000) => {
    for (let position = await projection.checkpoint(); ; ) {
      const range = await readRange(sql, position, maxEntries);
      if (range.to === position) return;
      await projection.apply(range);
      position = range.to;
    }
  };
  return Object.assign(projection, { catchUp });
}

async function newCode() {
  const { id: account } = await createAccount(database.sql, { name: 'Test', plan: 'enterprise', now: by.now });
  const owner = { account, mode: 'live' as const };
  const request = { name: 'Menu', destination_url: 'https://example.com' };
  const [created] = await database.sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
  return { id: created?.code.id ?? '', owner };
}
type Code = Awaited<ReturnType<typeof newCode>>;

const scan = ({ id, owner }: Code, count: number, fields: Parameters<typeof scanned>[0] = {}) =>
  appendScans(
    database.sql,
    batchOf(
      newId('batch', Date.now()),
      1,
      Array.from({ length: count }, () => scanned({ code: id, ...owner, ...fields })),
    ),
  );

async function tableInUse(): Promise<string> {
  const [row] = await database.sql<{ version: number }[]>`SELECT version FROM warehouse_tables WHERE in_use`;
  return `${warehouse.database}.scans_v${row?.version}`;
}

async function rows<T>(query: string): Promise<T[]> {
  return (await warehouse.client.query({ query, format: 'JSONEachRow' })).json<T>();
}

/** Every scan in the warehouse, in the order of the log. */
const stored = async () => rows(`SELECT * FROM ${await tableInUse()} ORDER BY position`);

/** Every scan of the log, except scans of deleted codes, as the warehouse should have it. */
const logged = () => database.sql`
  SELECT s.account, s.mode, s.code, to_char(s.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') AS time,
    s.position, s.id, s.country, s.region, s.city, s.device, s.browser, s.is_bot, s.visitor::text, s.is_unique, s.revision,
    coalesce(s.rule, '') AS rule, coalesce(s.variant, '') AS variant
  FROM scans s JOIN codes c ON c.id = s.code WHERE c.status <> 'deleted' ORDER BY s.position`;

const expectAll = async () => expect(await stored()).toEqual([...(await logged())]);

describe('the warehouse', () => {
  test('has every scan once, with all its fields, when ranges split batches', async () => {
    const [one, other] = [await newCode(), await newCode()];
    await scan(one, 7, { city: 'a\tb\\c\n"\'é', region: '', is_bot: true });
    await scan(other, 3, { occurred_at: new Date('2024-02-29T23:59:59.999Z') });
    await scan(one, 5, { mode: 'test', revision: 3, rule: 'r1', variant: 'v1' });
    await analytics().catchUp(4);
    expect(await stored()).toHaveLength(15);
    await expectAll();
  });

  test('inserts a range once when the response to its insert is lost', async () => {
    const code = await newCode();
    await analytics().catchUp();
    await scan(code, 5);
    const dying = analytics({
      async insert(...given) {
        await scanTables(warehouse).insert(...given);
        throw new Error('the response was lost');
      },
    });
    await expect(dying.catchUp()).rejects.toThrow('the response was lost');
    // The next read of the log would return a longer range, which would have another token.
    await scan(code, 2);
    await analytics().catchUp();
    expect(await stored()).toHaveLength(7);
    await expectAll();
  });

  test('inserts a range again when its insert did not reach ClickHouse', async () => {
    const code = await newCode();
    await analytics().catchUp();
    await scan(code, 5);
    const dying = analytics({ insert: () => Promise.reject(new Error('killed')) });
    await expect(dying.catchUp()).rejects.toThrow('killed');
    await scan(code, 2);
    await analytics().catchUp();
    await expectAll();
  });

  test('inserts a range once when two processes apply it', async () => {
    const code = await newCode();
    const both = [analytics(), analytics()];
    const positions = await Promise.all(both.map((each) => each.checkpoint().catch(() => -1)));
    await scan(code, 5);
    const range = await readRange(database.sql, Math.max(...positions), 100);
    const outcomes = await Promise.allSettled(both.map((each) => each.apply(range)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await analytics().catchUp();
    await expectAll();
  });

  test.each([
    ['truncated', () => tableInUse().then((table) => `TRUNCATE TABLE ${table}`)],
    ['dropped', () => tableInUse().then((table) => `DROP TABLE ${table}`)],
    ['dropped with its database', async () => `DROP DATABASE ${warehouse.database}`],
    ['missing its last rows', () => tableInUse().then((table) => `ALTER TABLE ${table} DELETE WHERE position > 5`)],
    [
      'changed by a duplicate row',
      () => tableInUse().then((table) => `INSERT INTO ${table} SELECT * FROM ${table} LIMIT 1`),
    ],
  ])('that is %s is rebuilt from the log by the running projection', async (_, damage) => {
    const code = await newCode();
    await scan(code, 5);
    const running = analytics();
    await running.catchUp();
    await running.maintain();
    await warehouse.client.command({ query: await damage(), clickhouse_settings: { mutations_sync: '2' } });
    await scan(code, 3);
    await expect(running.maintain()).rejects.toThrow(/were inserted|has no table/);
    await running.catchUp();
    expect(await stored()).toHaveLength(8);
    await expectAll();
    await running.maintain();
  });
});

describe('a deleted code', () => {
  const gone = async (code: Code) =>
    expect(await stored()).not.toContainEqual(expect.objectContaining({ code: code.id }));

  test('is removed from the warehouse, and other codes stay', async () => {
    const [leaving, staying] = [await newCode(), await newCode()];
    await scan(leaving, 5);
    await scan(staying, 5);
    const running = analytics();
    await running.catchUp();
    await remove(database.sql, leaving.owner, leaving.id, by);
    await running.catchUp();
    await eventually(async () => {
      await running.maintain();
      await gone(leaving);
    });
    await expectAll();
    await eventually(() => running.maintain());
    await running.checkpoint();
    expect(await tableInUse(), 'no rebuild was needed').toMatch(/_v1$/);
  });

  test('stays removed when scans of it arrive late from a spool', async () => {
    const [leaving, staying] = [await newCode(), await newCode()];
    const running = analytics();
    await running.catchUp();
    await remove(database.sql, leaving.owner, leaving.id, by);
    await scan(leaving, 2);
    await scan(staying, 2);
    await running.catchUp();
    await gone(leaving);
    await expectAll();
  });

  /** Runs steps until the code is removed, and the removal is confirmed. */
  const untilRemoved = (running: ReturnType<typeof analytics>, code: Code) =>
    eventually(async () => {
      await running.maintain();
      await gone(code);
      const [table] = await database.sql`SELECT removed_to, removing_to FROM warehouse_tables WHERE in_use`;
      expect(table).toMatchObject({ removing_to: null, removed_to: expect.toSatisfy((to) => to > 0) });
    });

  test('is subtracted from the row count once when the process dies before the confirmation', async () => {
    const code = await newCode();
    await scan(code, 5);
    await scan(await newCode(), 4);
    let submitted = 0;
    const dying = analytics({
      async remove(...given) {
        await scanTables(warehouse).remove(...given);
        submitted++;
      },
    });
    await dying.catchUp();
    await remove(database.sql, code.owner, code.id, by);
    await dying.catchUp();
    await eventually(async () => {
      await dying.maintain();
      expect(submitted).toBe(1);
    });
    const next = analytics();
    await next.catchUp();
    await untilRemoved(next, code);
    await next.checkpoint();
    await expectAll();
    expect(await tableInUse(), 'no rebuild was needed').toMatch(/_v1$/);
  });

  test('is submitted once while its rows remain, and inserts continue and are counted', async () => {
    const [leaving, staying] = [await newCode(), await newCode()];
    await scan(leaving, 5);
    let submitted = 0;
    const lagging = analytics({
      remove: async () => {
        submitted++;
      },
    });
    await lagging.catchUp();
    await remove(database.sql, leaving.owner, leaving.id, by);
    for (let step = 0; step < 10; step++) {
      await scan(staying, 1);
      await lagging.catchUp();
      await lagging.maintain();
    }
    expect(submitted).toBe(1);
    await warehouse.client.command({ query: `ALTER TABLE ${await tableInUse()} DELETE WHERE code = '${leaving.id}'` });
    await untilRemoved(lagging, leaving);
    await expectAll();
    expect(submitted).toBe(1);
    expect(await tableInUse(), 'no rebuild was needed').toMatch(/_v1$/);
  });

  test('is submitted again when the statement failed and rows remain', async () => {
    const code = await newCode();
    await scan(code, 5);
    let submitted = 0;
    const running = analytics({
      async remove(...given) {
        if (++submitted < 3) throw new Error('refused');
        await scanTables(warehouse).remove(...given);
      },
    });
    await running.catchUp();
    await remove(database.sql, code.owner, code.id, by);
    await running.catchUp();
    await untilRemoved(running, code);
    await expectAll();
    expect(submitted).toBe(3);
  });

  test('is removed at once if two or fewer were before it, and later ones every `everyMs`', async () => {
    const codes = await Promise.all([1, 2, 3, 4, 5].map(newCode));
    const timers = manualTimers();
    const running = analytics({}, { timers, removal: { ...immediately, everyMs: 1_000, maxAhead: 2 } });
    const removedBy = async (code: Code) => {
      await remove(database.sql, code.owner, code.id, by);
      await running.catchUp();
      await running.maintain();
      const [table] = await database.sql`SELECT removing_to FROM warehouse_tables WHERE in_use`;
      const isAnnounced = table?.['removing_to'] !== null;
      await running.maintain();
      return isAnnounced;
    };
    await running.catchUp();
    const announced: boolean[] = [];
    for (const code of codes.slice(0, 4)) announced.push(await removedBy(code));
    expect(announced).toEqual([true, true, true, false]);
    timers.advance(999);
    expect(await removedBy(codes[4] as Code)).toBe(false);
    timers.advance(1);
    await running.maintain();
    const [table] = await database.sql`SELECT removing_to FROM warehouse_tables WHERE in_use`;
    expect(table?.['removing_to']).not.toBeNull();
  });

  test('is removed together with 500 others, in statements of at most 500 codes', async () => {
    const { owner, ...first } = await newCode();
    const request = { name: 'Menu', destination_url: 'https://example.com' };
    const others = await database.sql.begin((tx) =>
      createCodes(
        tx,
        testBox,
        owner,
        Array.from({ length: 500 }, () => request),
        by,
      ),
    );
    const codes = [{ ...first, owner }, ...others.map(({ code: { id } }) => ({ id, owner }))];
    await appendScans(
      database.sql,
      batchOf(
        newId('batch', Date.now()),
        1,
        codes.map(({ id }) => scanned({ code: id, ...owner })),
      ),
    );
    const sizes: number[] = [];
    const running = analytics({
      async remove(version, rows) {
        sizes.push('codes' in rows ? rows.codes.length : 0);
        await scanTables(warehouse).remove(version, rows);
      },
    });
    await running.catchUp();
    await database.sql.begin(async (tx) => {
      const event = { type: 'code_deleted', data: {} } as const;
      await append(
        tx,
        codes.map(({ id }) => ({ stream: id, version: 2, event })),
        by,
      );
      await tx`UPDATE codes SET status = 'deleted' WHERE account = ${owner.account}`;
    });
    await running.catchUp();
    await untilRemoved(running, codes[0] as Code);
    expect(sizes).toEqual([500, 1]);
    expect(await stored()).toEqual([]);
  });
});

describe('a wrong count', () => {
  const versions = async () => [...(await database.sql`SELECT version, in_use FROM warehouse_tables`)];
  const expectNoRebuild = async () => expect(await versions()).toEqual([{ version: 1, in_use: true }]);

  test.each([
    ['low', 3],
    ['high', 7],
    ['missing', undefined],
  ])('that is %s once leads to a second count, not to a rebuild', async (_, wrong) => {
    const code = await newCode();
    await scan(code, 5);
    let wrongCounts = 0;
    const { count } = scanTables(warehouse);
    const running = analytics({ count: async (version) => (wrongCounts-- > 0 ? wrong : count(version)) });
    await running.catchUp();
    wrongCounts = 1;
    await running.maintain();
    wrongCounts = 1;
    await scan(code, 2);
    await running.catchUp();
    await expectNoRebuild();
    await expectAll();
  });

  test('that is corrected before `rebuildAfterMs` leaves the table in use', async () => {
    const code = await newCode();
    await scan(code, 5);
    let isLagging = false;
    const { count } = scanTables(warehouse);
    const lagging = async (version: number) => (isLagging ? 3 : count(version));
    const running = analytics({ count: lagging }, { rebuildAfterMs: 600_000 });
    await running.catchUp();
    isLagging = true;
    await expect(running.maintain()).rejects.toThrow('scans_v1 has 3 rows, but 5 were inserted; counting again');
    for (let attempt = 0; attempt < 3; attempt++) await expect(running.checkpoint()).rejects.toThrow('counting again');
    await expectNoRebuild();
    isLagging = false;
    await running.catchUp();
    await expectNoRebuild();
    await expectAll();
  });

  test('that persists leads to a rebuild, and the old table is in use until the new one is complete', async () => {
    const code = await newCode();
    await scan(code, 5);
    const timers = manualTimers();
    const running = analytics({}, { rebuildAfterMs: 300, timers });
    await running.catchUp();
    const before = await tableInUse();
    await warehouse.client.command({
      query: `ALTER TABLE ${before} DELETE WHERE position > 3 SETTINGS mutations_sync = 2`,
    });
    timers.advance(1);
    await expect(running.maintain()).rejects.toThrow('counting again');
    for (const passedMs of [0, 299]) {
      timers.advance(passedMs);
      await expect(running.checkpoint(), `after ${passedMs} ms`).rejects.toThrow('counting again');
    }
    expect(await tableInUse()).toBe(before);
    timers.advance(1);
    await running.catchUp();
    expect(await tableInUse()).toMatch(/_v2$/);
    await expectAll();
    expect(await rows(`SHOW TABLES FROM ${warehouse.database}`), 'the old one is dropped').toHaveLength(1);
  });

  test('that improves does not lead to a rebuild, because a replica is catching up', async () => {
    const code = await newCode();
    await scan(code, 50);
    let seen: number | undefined;
    const { count } = scanTables(warehouse);
    const timers = manualTimers();
    const running = analytics({ count: async (version) => seen ?? count(version) }, { rebuildAfterMs: 50, timers });
    await running.catchUp();
    for (seen = 10; seen < 50; seen += 5) {
      await expect(running.checkpoint()).rejects.toThrow('counting again');
      timers.advance(49);
    }
    seen = undefined;
    await running.catchUp();
    await expectNoRebuild();
  });

  test('of a new table leads to another count before the table is put in use', async () => {
    const code = await newCode();
    await scan(code, 5);
    await analytics().catchUp();
    const { count, ...tables } = scanTables(warehouse);
    let wrongCounts = 3;
    const { sql } = database;
    await rebuildAnalytics({
      sql,
      tables: { ...tables, count: async (version) => (wrongCounts-- > 0 ? 4 : count(version)) },
      readScans: (piece) => readScanText(sql, piece),
      headOfLog: () => headOfLog(sql),
      retryTimeoutMs: 60_000,
    });
    expect(await versions()).toEqual([{ version: 2, in_use: true }]);
    await expectAll();
  });

  test('of a new table that persists keeps the old table in use', async () => {
    const code = await newCode();
    await scan(code, 5);
    await analytics().catchUp();
    const { sql } = database;
    const rebuild = rebuildAnalytics({
      sql,
      tables: { ...scanTables(warehouse), count: async () => 4 },
      readScans: (piece) => readScanText(sql, piece),
      headOfLog: () => headOfLog(sql),
      retryTimeoutMs: 0,
    });
    await expect(rebuild).rejects.toThrow('the new table scans_v2 has 4 rows, but 0 were inserted');
    expect(await tableInUse()).toMatch(/_v1$/);
    await expectAll();
  });
});

describe('a table of an older version', () => {
  test('gets the settings of a new table, and keeps its rows', async () => {
    const code = await newCode();
    await scan(code, 5);
    await analytics().catchUp();
    const table = await tableInUse();
    const settings = async () => {
      const [{ statement = '' } = {}] = await rows<{ statement: string }>(`SHOW CREATE TABLE ${table}`);
      return [...statement.slice(statement.indexOf('SETTINGS')).matchAll(/(\w+) = ([\w']+)/g)].map(([, ...pair]) =>
        pair.join('='),
      );
    };
    const asNew = await settings();
    const resetable = asNew.map((pair) => pair.split('=')[0]).filter((name) => name?.startsWith('fsync'));
    if (resetable.length > 0)
      await warehouse.client.command({ query: `ALTER TABLE ${table} RESET SETTING ${resetable.join(', ')}` });
    await analytics().catchUp();
    expect((await settings()).sort()).toEqual(asNew.sort());
    await expectAll();
    expect(table, 'no rebuild was needed').toBe(await tableInUse());
  });
});

describe('a replay', () => {
  test('creates the same rows in another table while scans continue', async () => {
    const [staying, leaving] = [await newCode(), await newCode()];
    const running = analytics();
    await scan(leaving, 3);
    await scan(staying, 200);
    await running.catchUp();
    await remove(database.sql, leaving.owner, leaving.id, by);
    let isScanning = true;
    const scanning = (async () => {
      while (isScanning) {
        await scan(staying, 3);
        // Rejects when the replay has replaced the table; the next call starts with the new one.
        await running.catchUp(2).catch(() => {});
      }
    })();
    await replayAnalytics({ sql: database.sql, warehouse });
    await replayAnalytics({ sql: database.sql, warehouse });
    isScanning = false;
    await scanning;
    await running.catchUp();
    expect(await tableInUse()).toMatch(/_v3$/);
    await expectAll();
    expect(await rows(`SHOW TABLES FROM ${warehouse.database}`), 'the old ones are dropped').toHaveLength(1);
  });

  test('reports progress up to the head of the log', async () => {
    await scan(await newCode(), 10);
    const seen: [number, number][] = [];
    await replayAnalytics({ sql: database.sql, warehouse, onProgress: (done, total) => seen.push([done, total]) });
    const head = await headOfLog(database.sql);
    expect(seen.at(-1)).toEqual([head, head]);
  });

  test('replaces a table that a restored database has no record of', async () => {
    const code = await newCode();
    await scan(code, 3);
    const tables = scanTables(warehouse);
    await tables.create(1);
    await analytics().catchUp();
    expect(await tableInUse()).toMatch(/_v1$/);
    expect(await tables.count(1)).toBe(3);
  });

  test('is refused while another one runs', async () => {
    await scan(await newCode(), 10);
    await database.sql.begin(async (another) => {
      await another`SELECT pg_advisory_xact_lock(${locks.replayAnalytics})`;
      await expect(replayAnalytics({ sql: database.sql, warehouse })).rejects.toThrow(
        'Another replay of analytics is under way: wait for it to end.',
      );
    });
    expect(await replayAnalytics({ sql: database.sql, warehouse })).toEqual({ scans: 10 });
  });

  test('that is interrupted leaves the old table in use, and the next one drops the incomplete table', async () => {
    const code = await newCode();
    await scan(code, 10);
    await analytics().catchUp();
    const before = await stored();
    const interrupted = new AbortController();
    interrupted.abort();
    const signal = interrupted.signal;
    await expect(replayAnalytics({ sql: database.sql, warehouse, signal })).rejects.toThrow();
    expect(await stored()).toEqual(before);
    await replayAnalytics({ sql: database.sql, warehouse });
    expect(await stored()).toEqual(before);
    expect(await rows(`SHOW TABLES FROM ${warehouse.database}`)).toHaveLength(1);
  });
});
