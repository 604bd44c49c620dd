import type postgres from 'postgres';

/** Columns of type `bigint` are read as numbers (src/log/connect.ts). */
interface Types extends Record<string, unknown> {
  bigint: number;
}

/** A pool of connections. */
export type Sql = postgres.Sql<Types>;
export type Transaction = postgres.TransactionSql<Types>;
/** A pool, or a transaction on one of its connections. */
export type Queryable = postgres.ISql<Types>;
