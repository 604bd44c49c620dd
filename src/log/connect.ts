import postgres from 'postgres';
import { backgroundConnection } from '../lib/connection-names.ts';
import { codeOf } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';

/** Positions and counts stay far below 2^53, so they are parsed as plain numbers. */
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

interface ConnectOptions {
  max?: number;
  name?: string;
  /** Forces generic plans: for a few statements that run thousands of times. */
  planOnce?: boolean;
  /**
   * Closes the connection and fails its queries when Postgres sends nothing for this long while a query waits: a
   * connection can die without a FIN or RST. `'none'` is for maintenance, whose statements run for minutes, and relies
   * on TCP keep-alive.
   */
  responseTimeoutMs?: number | 'none';
  /**
   * Commits do not wait for the disk or a standby: a crash can lose the last ones, never an earlier one alone. Only for what is done
   * again then. Redirects sync to the same disk.
   */
  losesLastCommits?: boolean;
}

/** Servers, by URL, that have `transaction_timeout`: Postgres 17 and newer. */
const withTransactionTimeout = new Set<string>();
const firstVersionWithIt = 17;
/** A transaction may last as long as this many statements that reach the timeout. */
const maxSilentStatements = 3;

/** A pool of connections to the database that holds the log. Requires the `postgres` package patched by `patches/`. */
export function connect(url: string, options: ConnectOptions = {}): Sql {
  const {
    max = 10,
    name = backgroundConnection,
    planOnce = false,
    responseTimeoutMs = timeouts.postgresResponseMs,
    losesLastCommits = false,
  } = options;
  // A client that stops in the middle of a message is neither idle nor running a statement, and keeps its locks.
  const limit = responseTimeoutMs === 'none' ? {} : { transaction_timeout: responseTimeoutMs * maxSilentStatements };
  const sql = postgres(url, {
    max,
    connect_timeout: timeouts.postgresConnectMs / 1_000,
    ...(responseTimeoutMs === 'none' ? {} : { read_timeout: responseTimeoutMs / 1_000 }),
    // The default counts failures per pool instead of per connection, and soon waits 20 s.
    backoff: (failures: number) => Math.min(failures * 0.05, 0.5),
    onnotice: () => {},
    // Saves a query on each new connection: the array types in use are declared in `types`.
    fetch_types: false,
    types: { bigint, texts } as { bigint: typeof bigint },
    connection: {
      application_name: name,
      timezone: 'UTC',
      statement_timeout: timeouts.postgresStatementMs,
      // An append holds the append lock until it commits: a client that died without closing must lose it.
      idle_in_transaction_session_timeout: 10_000,
      ...(planOnce ? { plan_cache_mode: 'force_generic_plan' } : {}),
      ...(losesLastCommits ? { synchronous_commit: 'off' } : {}),
      ...(withTransactionTimeout.has(url) ? limit : {}),
    },
    // A server refuses a setting that it does not have, so the first connection of a process is without the limit.
    onparameter(parameter: string, value: string) {
      if (parameter !== 'server_version' || Number.parseInt(value, 10) < firstVersionWithIt) return;
      withTransactionTimeout.add(url);
      Object.assign(sql.options.connection, limit);
    },
  });
  return sql;
}

const unavailableCodes = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'NO_ANSWER',
  'NOT_COMMITTED',
  'READ_TIMEOUT',
  'ETIMEDOUT',
  'ENOTFOUND',
  '57014', // statement timeout
  '57P01', // terminated by an administrator
  '57P02', // crash of another backend
  '57P05', // idle session timeout
  '57P03', // starting up or shutting down
  '53300', // too many connections
  '25P03', // idle in transaction timeout
]);

/** Whether an error means that Postgres is unavailable now, rather than that a query is wrong. */
export function isPostgresUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return unavailableCodes.has(code) || code.startsWith('08');
}

/** Whether an error is a violation of the unique constraint `constraint`. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof postgres.PostgresError && error.code === '23505' && error.constraint_name === constraint;
}

/** Whether Postgres ended a transaction because it and another one waited for each other. */
export const isDeadlock = (error: unknown) => codeOf(error) === '40P01';
