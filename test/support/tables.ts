import type { Sql } from '../../src/lib/sql.ts';

/** Every row of a table as text, in a fixed order: two dumps are equal if and only if the tables are. */
export async function dumpTable(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql.unsafe<{ row: string }[]>(`SELECT t::text AS row FROM ${table} t ORDER BY 1`);
  return rows.map(({ row }) => row);
}

/** Dumps of all tables of the database, by name. */
export async function dumpAll(sql: Sql): Promise<Record<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`;
  return Object.fromEntries(await Promise.all(tables.map(async ({ name }) => [name, await dumpTable(sql, name)])));
}
