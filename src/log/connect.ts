import postgres from 'postgres';
import { codeOf } from '../lib/errors.ts';
import { surviving } from './transactions.ts';

export type Sql = postgres.Sql<{ bigint: number }>;
export type Transaction = postgres.TransactionSql<{ bigint: number }>;
/** The whole connection or one transaction on it. */
export type Queryable = postgres.ISql<{ bigint: number }>;

/** Positions and counts stay far below 2^53, so plain numbers hold them. */
const bigint = { to: 20, from: [20], serialize: String, parse: Number };

/** `text[]` and `name[]`, written as `{"a","b \"c\""}`. */
const texts = {
  to: 1009,
  from: [1009, 1003],
  serialize: (values: string[]) => `{${values.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`,
  parse: (array: string) =>
    [...array.matchAll(/"((?:[^"\\]|\\.)*)"|([^",{}]+)/gs)].map(
      ([, quoted, plain]) => quoted?.replace(/\\(.)/gs, '$1') ?? plain,
    ),
};

/**
 * `postgres` sends what is short from a timer, and forgets to take up a new one for a connection that was lost while its
 * timer was set: that connection would never say a word again. What is long is sent at once, and sets it right; so each
 * begins with something long.
 */
const longGreeting = 'x'.repeat(1_024);

interface ConnectOptions {
  max?: number;
  name?: string;
  /** Plans each statement once, whatever its values: for few statements that come thousands of times. */
  planOnce?: boolean;
}

/** A pool of connections to the database that holds the log. */
export function connect(url: string, options: ConnectOptions = {}): Sql {
  const sql = postgres(url, {
    max: options.max ?? 10,
    connect_timeout: 5,
    // Its own back-off counts what all connections of a pool have failed together, and soon waits for 20 s.
    backoff: (failures: number) => Math.min(failures * 0.05, 0.5),
    onnotice: () => {},
    // On each new connection it would ask Postgres for all types of arrays, and await that nowhere: a connection lost
    // at that moment would end the process. The arrays that we use are told instead.
    fetch_types: false,
    types: { bigint, texts } as { bigint: typeof bigint },
    connection: {
      application_name: options.name ?? 'scanlog',
      timezone: 'UTC',
      statement_timeout: 15_000,
      // An append holds the log's lock until it commits: a holder that died silently must not hold everybody up.
      idle_in_transaction_session_timeout: 10_000,
      ...{ 'scanlog.greeting': longGreeting },
      ...(options.planOnce ? { plan_cache_mode: 'force_generic_plan' } : {}),
    },
  });
  sql.begin = surviving(sql.begin);
  return sql;
}

const awayCodes = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  '57014', // statement time-out
  '57P01', // terminated by an administrator
  '57P02', // crash of another backend
  '57P03', // starting up or shutting down
  '53300', // too many connections
  '25P03', // idle in transaction time-out
]);

/** Whether an error means that the database cannot be reached now, rather than that a query was wrong. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  return awayCodes.has(code) || code.startsWith('08');
}

/** Whether an error is a lost race for what `constraint` keeps unique. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof postgres.PostgresError && error.code === '23505' && error.constraint_name === constraint;
}
