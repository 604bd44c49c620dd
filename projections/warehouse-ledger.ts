import type { Owner } from '../events/owner.ts';
import type { Queryable, Sql } from '../src/lib/sql.ts';
import { Superseded } from './checkpoint.ts';

/** A warehouse table, and up to which positions it is filled and cleaned. */
export interface WarehouseTable {
  version: number;
  definition: number;
  position: number;
  inserting_to: number | null;
  removed_to: number;
  removing_to: number | null;
  /** Rows of the announced removal, be it of deleted codes (`removing_to`) or by the retention (`dropping_run`). */
  removing_rows: number | null;
  dropped_run: number;
  dropping_run: number | null;
  dropping_before: Date | null;
  dropping_to: number | null;
  rows: number;
}

async function exactlyOne(update: PromiseLike<{ count: number }>): Promise<void> {
  if ((await update).count !== 1)
    throw new Superseded('another warehouse table is in use, or another process has moved its checkpoint');
}

/** The state of the tables in ClickHouse, stored in Postgres. All writes to `warehouse_tables` are here. */
export const ledger = {
  async inUse(sql: Queryable): Promise<WarehouseTable | undefined> {
    const [table] = await sql<WarehouseTable[]>`SELECT * FROM warehouse_tables WHERE in_use`;
    return table;
  },

  /** Records that the scans up to `to` are about to be inserted. */
  announceInsert: (sql: Queryable, { version, position }: WarehouseTable, to: number) =>
    exactlyOne(sql`
      UPDATE warehouse_tables SET inserting_to = ${to}
      WHERE version = ${version} AND in_use AND position = ${position} AND inserting_to IS NULL`),

  confirmInsert: (sql: Queryable, { version }: WarehouseTable, to: number, rows: number) =>
    exactlyOne(sql`
      UPDATE warehouse_tables SET position = ${to}, inserting_to = NULL, rows = rows + ${rows}
      WHERE version = ${version} AND in_use AND inserting_to = ${to}`),

  /** Moves the position past a range without scans. */
  pass: (sql: Queryable, { version, position }: WarehouseTable, to: number) =>
    exactlyOne(sql`
      UPDATE warehouse_tables SET position = ${to}
      WHERE version = ${version} AND in_use AND position = ${position} AND inserting_to IS NULL`),

  announceRemoval: (sql: Queryable, { version }: WarehouseTable, to: number, rows: number) =>
    exactlyOne(sql`
      UPDATE warehouse_tables SET removing_to = ${to}, removing_rows = ${rows}
      WHERE version = ${version} AND in_use AND removing_to IS NULL AND dropping_run IS NULL`),

  confirmRemoval: (sql: Queryable, { version }: WarehouseTable, to: number) =>
    exactlyOne(sql`
      UPDATE warehouse_tables
      SET rows = rows - removing_rows, removed_to = removing_to, removing_to = NULL, removing_rows = NULL
      WHERE version = ${version} AND in_use AND removing_to = ${to}`),

  announceDrop: (sql: Queryable, { version }: WarehouseTable, { run, before, upTo }: Drop, rows: number) =>
    exactlyOne(sql`
      UPDATE warehouse_tables
      SET dropping_run = ${run}, dropping_before = ${before}, dropping_to = ${upTo}, removing_rows = ${rows}
      WHERE version = ${version} AND in_use AND removing_to IS NULL AND dropping_run IS NULL`),

  confirmDrop: (sql: Queryable, { version }: WarehouseTable, run: number) =>
    exactlyOne(sql`
      UPDATE warehouse_tables
      SET rows = rows - removing_rows, dropped_run = dropping_run, dropping_run = NULL, dropping_before = NULL,
        dropping_to = NULL, removing_rows = NULL
      WHERE version = ${version} AND in_use AND dropping_run = ${run}`),

  /** The retention run whose scans are removed from the log, but not yet from this table. */
  async droppedFromLog(sql: Queryable, { dropped_run, position }: WarehouseTable): Promise<Drop | undefined> {
    const [drop] = await sql<Drop[]>`
      SELECT run, before, up_to AS "upTo" FROM scan_retention
      WHERE run > ${dropped_run} AND done_to = up_to AND up_to <= ${position}`;
    return drop;
  },

  /** Codes that were deleted after position `after`, up to `to`, in the order of their deletion. */
  async ended(sql: Queryable, after: number, to: number, limit?: number): Promise<EndedCode[]> {
    return sql<EndedCode[]>`
      SELECT c.id, c.account, c.mode, e.position FROM events e JOIN codes c ON c.id = e.stream
      WHERE e.type = 'code_deleted' AND e.position > ${after} AND e.position <= ${to}
      ORDER BY e.position LIMIT ${limit ?? null}`;
  },

  /** The positions of the deletions of those codes that are deleted. */
  async ends(sql: Queryable, codes: string[]): Promise<Map<string, number>> {
    const rows = await sql<{ code: string; position: number }[]>`
      SELECT c.id AS code, e.position FROM codes c JOIN events e ON e.stream = c.id AND e.type = 'code_deleted'
      WHERE c.id = ANY(${codes}) AND c.status = 'deleted'`;
    return new Map(rows.map(({ code, position }) => [code, position]));
  },

  /**
   * Retires all tables: they are no longer read, written, or put in use by a running rebuild. New versions are higher
   * than any that the lost tail of the log may have assigned.
   */
  async retireAll(sql: Queryable): Promise<void> {
    await sql`UPDATE warehouse_tables SET in_use = false, position = -1`;
    const sequence = sql`pg_get_serial_sequence('warehouse_tables', 'version')`;
    await sql`SELECT setval(${sequence}, nextval(${sequence}) + 1000)`;
  },

  /** Adds a table that is not in use. It will not contain scans of codes that were deleted up to `removedTo`. */
  async add(sql: Queryable, definition: number, removedTo: number): Promise<number> {
    const [row] = await sql<[{ version: number }]>`
      INSERT INTO warehouse_tables (definition, position, removed_to, rows)
      VALUES (${definition}, 0, ${removedTo}, 0) RETURNING version`;
    return row.version;
  },

  async notInUse(sql: Queryable): Promise<number[]> {
    const rows = await sql<{ version: number }[]>`SELECT version FROM warehouse_tables WHERE NOT in_use`;
    return rows.map(({ version }) => version);
  },

  async forget(sql: Queryable, version: number): Promise<void> {
    await sql`DELETE FROM warehouse_tables WHERE version = ${version} AND NOT in_use`;
  },

  /**
   * Replaces the table in use, which is locked meanwhile: `fill` brings the new table at least to the position of the old
   * one, so that analytics never go back.
   */
  async exchange(
    sql: Sql,
    version: number,
    fill: (to: number) => Promise<{ position: number; rows: number }>,
  ): Promise<void> {
    await sql.begin(async (tx) => {
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
      const [old] = await tx<{ position: number }[]>`SELECT position FROM warehouse_tables WHERE in_use FOR UPDATE`;
      const { position, rows } = await fill(old?.position ?? 0);
      await tx`UPDATE warehouse_tables SET in_use = false WHERE in_use`;
      await exactlyOne(tx`
        UPDATE warehouse_tables SET in_use = true, position = ${position}, rows = ${rows}
        WHERE version = ${version} AND position = 0`);
    });
  },
};

/** A retention run: scans from before `before` are removed, up to position `upTo`. */
export interface Drop {
  run: number;
  before: Date;
  upTo: number;
}

export interface EndedCode extends Owner {
  id: string;
  /** Of its deletion. */
  position: number;
}
