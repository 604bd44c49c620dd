import type { ISql, Sql as Postgres } from 'postgres';

export type Sql = Postgres<{ bigint: number }>;

/** The pool, or a transaction. */
export type Queryable = ISql<{ bigint: number }>;

/** Whose webhook. */
export interface EndpointKey {
  account: string;
  mode: string;
}

export const keyOf = ({ account, mode }: EndpointKey) => `${account}/${mode}`;
