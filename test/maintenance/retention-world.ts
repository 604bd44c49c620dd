import { expect, inject } from 'vitest';
import { Analytics } from '../../projections/analytics.ts';
import { counters } from '../../projections/counters.ts';
import type { ScanTables } from '../../projections/warehouse-tables.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { connectWarehouse, type Warehouse } from '../../src/analytics/connect.ts';
import { scanTables } from '../../src/analytics/scan-tables.ts';
import { createCodes } from '../../src/codes/create.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { ensurePartitions } from '../../src/log/partitions.ts';
import { readRange } from '../../src/log/read.ts';
import { readScanText } from '../../src/log/scan-lines.ts';
import { replayAnalytics } from '../../src/maintenance/replay-analytics.ts';
import { dropNext, type RetentionStep } from '../../src/maintenance/retention.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { createDatabase, type TestDatabase, uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';

const by = { actor: 'operator', now: new Date() };

export interface OwnedCode {
  id: string;
  owner: { account: string; mode: 'live' };
}

/** A log, a warehouse, and projections that advance only with `catchUp`. */
export interface RetentionWorld {
  database: TestDatabase;
  sql: Sql;
  warehouse: Warehouse;
  newCode(): Promise<OwnedCode>;
  scan(code: OwnedCode, count: number, fields?: Parameters<typeof scanned>[0]): Promise<void>;
  /** Applies the rest of the log to all projections, and runs one step of a removal in the warehouse. */
  catchUp(): Promise<void>;
  /** Replaces the analytics projection with a new one, as when its process is restarted. */
  restartAnalytics(): void;
  /** Continues the log after `position`, and the projections, too, since they read a gap in many small ranges. */
  skipTo(position: number): Promise<void>;
  step(cutoff: Date | undefined): Promise<RetentionStep>;
  /** Runs steps until there is nothing to do. */
  dropAll(cutoff: Date | undefined): Promise<void>;
  /** The differences that `verify` finds once all projections are at the end of the log. */
  differences(): Promise<unknown[]>;
  totals(): Promise<{ code: string; total_scans: number; unique_scans: number }[]>;
  drop(): Promise<void>;
}

export async function createRetentionWorld(tables: Partial<ScanTables> = {}): Promise<RetentionWorld> {
  const database = await createDatabase();
  return worldOn(database, database.drop, tables);
}

/** Creates a world on an existing database. */
export async function worldOn(
  database: TestDatabase,
  dropDatabase: () => Promise<unknown>,
  tables: Partial<ScanTables> = {},
): Promise<RetentionWorld> {
  const { sql } = database;
  const { clickhouseUrl } = inject('stack');
  const warehouse = connectWarehouse({ clickhouseUrl, clickhouseDatabase: uniqueName(), clickhouseCluster: undefined });

  const { remove, countOf, ...otherTables } = scanTables(warehouse);
  const newAnalytics = () =>
    new Analytics({
      sql,
      tables: {
        ...otherTables,
        countOf,
        // ClickHouse removes rows in the background: without this wait, each check for them would be a whole `catchUp`.
        async remove(version, rows) {
          await remove(version, rows);
          await eventually(async () => expect(await countOf(version, rows)).toBe(0));
        },
        ...tables,
      },
      readScans: (piece) => readScanText(sql, piece),
      rebuild: async () => void (await replayAnalytics({ sql, warehouse })),
      onFailure: () => {},
      rebuildAfterMs: 0,
      // Rows are counted once: `differences` counts them too, and each count takes ClickHouse in WebAssembly 10 ms.
      everyMs: { maintain: 0, count: Number.POSITIVE_INFINITY },
      removal: { everyMs: 0, maxAhead: 0, maxPollMs: 0, retryFailedMs: 0, retryAcceptedMs: 3_600_000 },
    });

  let analytics = newAnalytics();

  async function follow(
    checkpoint: () => Promise<number>,
    apply: (range: Awaited<ReturnType<typeof readRange>>) => Promise<unknown>,
  ): Promise<void> {
    for (let position = await checkpoint(); ; ) {
      const range = await readRange(sql, position, 1_000);
      if (range.to === position) return;
      await apply(range);
      position = range.to;
    }
  }

  const world: RetentionWorld = {
    database,
    sql,
    warehouse,
    async newCode() {
      const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: by.now });
      const owner = { account, mode: 'live' as const };
      const request = { name: 'Menu', destination_url: 'https://example.com' };
      const [created] = await sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
      return { id: created?.code.id ?? '', owner };
    },
    scan: ({ id, owner }, count, fields = {}) =>
      appendScans(
        sql,
        batchOf(
          newId('batch', Date.now()),
          1,
          Array.from({ length: count }, () => scanned({ code: id, ...owner, ...fields })),
        ),
      ),
    async catchUp() {
      await follow(
        () => counters.checkpoint(sql),
        (range) => counters.apply(sql, range),
      );
      await follow(
        () => webhooks.checkpoint(sql),
        (range) => webhooks.apply(sql, range, new Date()),
      );
      await follow(
        () => analytics.checkpoint(),
        (range) => analytics.apply(range),
      );
      await analytics.maintain();
    },
    restartAnalytics() {
      analytics = newAnalytics();
    },
    async skipTo(position) {
      await world.catchUp();
      await sql`SELECT setval('log_position', ${position})`;
      await sql`UPDATE checkpoints SET position = ${position}`;
      await sql`UPDATE warehouse_tables SET position = ${position}`;
      await ensurePartitions(sql);
      world.restartAnalytics();
    },
    step: (cutoff) => dropNext(sql, cutoff, new Date()),
    async dropAll(cutoff) {
      // Not before each of many steps, since it reads the log three times.
      let isWaiting = true;
      for (;;) {
        if (isWaiting) await world.catchUp();
        const { state } = await world.step(cutoff);
        if (state === 'idle') return;
        isWaiting = state === 'waiting';
      }
    },
    async differences() {
      await world.catchUp();
      return (await verify({ sql, warehouse, catchUpTimeoutMs: 1_000 })).differences;
    },
    totals: () =>
      sql<{ code: string; total_scans: number; unique_scans: number }[]>`
        SELECT code, total_scans, unique_scans FROM scan_counts ORDER BY code`,
    async drop() {
      await warehouse.client.command({ query: `DROP DATABASE IF EXISTS ${warehouse.database}` });
      await warehouse.client.close();
      await dropDatabase();
    },
  };
  return world;
}
