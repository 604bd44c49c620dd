import { beforeAll, describe, expect, test } from 'vitest';
import { Filter } from '../../src/feed/filter.ts';
import { readPage } from '../../src/feed/read-page.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Queryable, Sql } from '../../src/lib/sql.ts';
import { blockSize, indexedTo, indexNextBlock, pruneIndex } from '../../src/log/account-index.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { nextOwnedPart, type OwnedPart } from '../../src/log/owned-parts.ts';
import { headOfLog } from '../../src/log/read.ts';
import { positionBefore } from '../../src/log/start-position.ts';
import { countPart } from '../../src/webhooks/replay-steps.ts';
import type { Replay } from '../../src/webhooks/replays.ts';
import { archiveAll, useArchiveFolder } from '../support/archive.ts';
import { createDatabase, useDatabase } from '../support/database.ts';
import { scanned } from '../support/scans.ts';

const archive = useArchiveFolder();
const small = { account: 'acct_small', mode: 'live' } as const;
const large = { account: 'acct_large', mode: 'live' } as const;
const blocks = 3;
const smallPerBlock = 2;
const largePerBlock = 200;
const all = { wantsScans: true, wantsChanges: true, maxEntries: 1_000, maxPositions: blockSize };
const times = Array.from({ length: blocks }, (_, block) => new Date(Date.UTC(2026, 0, 1 + block)));

async function append(sql: Sql, owner: typeof small | typeof large, count: number, occurred_at: Date): Promise<void> {
  const scans = Array.from({ length: count }, () => scanned({ ...owner, code: `qr_${owner.account}`, occurred_at }));
  await appendScans(sql, batchOf(newId('batch', Date.now()), 1, scans));
}

/** Appends scans of both accounts to each block, and one to the block after them; returns the end of the log. */
async function fill(sql: Sql): Promise<number> {
  for (const time of times) {
    await append(sql, large, largePerBlock / 2, time);
    await append(sql, small, smallPerBlock, time);
    await append(sql, large, largePerBlock / 2, time);
    // As if other accounts had used the other positions.
    await sql`SELECT setval('log_position', (last_value / ${blockSize} + 1) * ${blockSize}) FROM log_position`;
  }
  await append(sql, small, 1, new Date(Date.UTC(2025, 0, 1)));
  return headOfLog(sql);
}

async function indexAll(sql: Sql, head: number): Promise<void> {
  while (await indexNextBlock(sql, head));
}

/** Scans that Postgres has read in a transaction. */
const scansRead = async (tx: Queryable): Promise<number> => {
  const [{ tuples }] = await tx<[{ tuples: number }]>`
    SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint AS tuples FROM pg_stat_xact_user_tables
    WHERE starts_with(relname, 'scans_')`;
  return tuples;
};

/** Scans that Postgres reads for a read of the log, by the index on positions, as in a log that is not as short. */
const scansReadBy = (sql: Sql, read: (tx: Queryable) => Promise<unknown>): Promise<number> =>
  sql.begin(async (tx) => {
    await tx`SET LOCAL enable_seqscan = off`;
    const before = await scansRead(tx);
    await read(tx);
    return (await scansRead(tx)) - before;
  });

describe('the index of accounts', () => {
  const database = useDatabase();
  let sql: Sql;
  let head: number;
  let unindexed: OwnedPart;

  beforeAll(async () => {
    sql = database.sql;
    head = await fill(sql);
    unindexed = await nextOwnedPart(sql, small, { after: 0, to: head }, all);
    await indexAll(sql, head);
  });

  const positionsOf = async ({ account }: typeof small | typeof large) => {
    const rows = await sql<{ position: number }[]>`
      SELECT position FROM scans WHERE account = ${account} ORDER BY position`;
    return rows.map(({ position }) => position);
  };

  test('names every position of an account up to its end, and nothing of what follows', async () => {
    expect(unindexed, 'before there is an index').toEqual({ after: 0, to: blockSize, owned: undefined });
    expect(await indexedTo(sql)).toBe(blocks * blockSize);
    const known = (await positionsOf(small)).slice(0, -1);
    const part = await nextOwnedPart(sql, small, { after: 0, to: head }, all);
    expect(part).toEqual({ after: 0, to: blocks * blockSize, owned: { scans: known, changes: [] } });
    const rest = await nextOwnedPart(sql, small, { after: part.to, to: head }, all);
    expect(rest).toEqual({ after: part.to, to: head, owned: undefined });
  });

  test('gives parts of any size, each position once', async () => {
    const found: number[] = [];
    for (let after = 0; after < blocks * blockSize; ) {
      const part = await nextOwnedPart(sql, large, { after, to: blocks * blockSize }, { ...all, maxEntries: 70 });
      expect(part.owned?.scans.length).toBeLessThanOrEqual(70);
      found.push(...(part.owned?.scans ?? []));
      after = part.to;
    }
    expect(found).toEqual(await positionsOf(large));
  });

  test('lets a block be read as a whole where an account has most of it', async () => {
    const dense = sql`account = ${large.account} AND block = 1`;
    const [row] = await sql<[{ scans: Buffer }]>`SELECT scans FROM account_blocks WHERE ${dense}`;
    await sql`UPDATE account_blocks SET scans = NULL WHERE ${dense}`;
    const first = await nextOwnedPart(sql, large, { after: 0, to: head }, all);
    expect(first).toMatchObject({ after: 0, to: blockSize, owned: { scans: { length: largePerBlock } } });
    const second = await nextOwnedPart(sql, large, { after: first.to, to: head }, all);
    expect(second).toEqual({ after: blockSize, to: 2 * blockSize, owned: undefined });
    await sql`UPDATE account_blocks SET scans = ${row.scans} WHERE ${dense}`;
  });

  test('lets the feed and a replay read the scans of one account only', async () => {
    const filter = new Filter({ types: ['scan.created'] });
    const own = (await positionsOf(small)).length;
    let page: Awaited<ReturnType<typeof readPage>> | undefined;
    const byFeed = await scansReadBy(sql, async (tx) => {
      page = await readPage(tx, small, { after: 0, filter, limit: 1_000 });
    });
    expect(page).toMatchObject({ to: head, isAtEnd: true });
    expect(page?.entries.map(({ position }) => position)).toEqual(await positionsOf(small));
    expect(byFeed).toBeLessThan(largePerBlock);

    const replay = {
      ...small,
      webhook: small.mode,
      selection: { code_mode: 'live', types: ['code_scanned'], qr_ids: null, tags: null, spans: [] },
      choice: 'all',
      from_time: new Date(0),
      to_time: new Date(Date.UTC(2100, 0, 1)),
      to_position: head,
      counted_to: 0,
      total: 0,
    } satisfies Partial<Replay> as unknown as Replay;
    const byReplay = await scansReadBy(sql, async (tx) => {
      while (await countPart(tx, replay));
    });
    expect(replay.total).toBe(own);
    expect(byReplay).toBeLessThan(largePerBlock);
  });

  test('finds where a time begins without reading what is older', async () => {
    for (const [block, time] of times.entries()) {
      const since = { since: time };
      let position: number | undefined;
      const read = await scansReadBy(sql, async (tx) => {
        position = await positionBefore(tx, since);
      });
      expect(position, time.toISOString()).toBe(block * blockSize);
      expect(read).toBeLessThan(largePerBlock);
    }
    const later = { since: new Date(Date.UTC(2027, 0, 1)) };
    expect(await positionBefore(sql, later), 'no entry since').toBe(head);
  });
});

test('the index of archived scans is the same, and is emptied when the retention has removed them', async () => {
  const { sql, drop } = await createDatabase();
  const head = await fill(sql);
  const index = () => sql<{ line: string }[]>`
    SELECT account || block || scans::text || changes::text AS line FROM account_blocks ORDER BY account, block`;
  await indexAll(sql, head);
  const rows = await index();
  expect(rows).toHaveLength(2 * blocks);
  await sql`
    INSERT INTO checkpoints VALUES ('counters', ${head}), ('webhooks', ${head})
    ON CONFLICT (projection) DO UPDATE SET position = excluded.position`;
  await sql`
    INSERT INTO warehouse_tables (version, definition, in_use, position, removed_to, rows)
    VALUES (1, 1, true, ${head}, ${head}, 0)`;
  await archiveAll(sql, archive, 4 * blockSize);
  await sql`TRUNCATE account_blocks, indexed_blocks`;
  await indexAll(sql, head);
  expect(await index()).toEqual(rows);
  const first = await nextOwnedPart(sql, small, { after: 0, to: head }, all);
  expect(first, 'one block of a file at a time').toMatchObject({
    to: blockSize,
    owned: { scans: { length: smallPerBlock } },
  });

  await sql`INSERT INTO account_blocks VALUES ('acct_changed', 'live', 0, '\\x8000', '\\x8001')`;
  await sql`UPDATE archives SET scans = 0`;
  while (await pruneIndex(sql));
  expect(await index(), 'changes stay').toEqual([{ line: 'acct_changed0\\x\\x8001' }]);
  expect(await indexedTo(sql), 'which does not rebuild them').toBe(blocks * blockSize);
  await drop();
});
