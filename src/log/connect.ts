import postgres from 'postgres';
import { codeOf } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';

export type { Queryable, Sql, Transaction } from '../lib/sql.ts';

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

interface ConnectOptions {
  max?: number;
  name?: string;
  /** Plans each statement once, whatever its values: for few statements that come thousands of times. */
  planOnce?: boolean;
  /**
   * How long Postgres may be silent while a query waits for it; then the connection is given up and its queries fail. A
   * connection can die without notice, and no query may wait for ever. `'none'` for maintenance, whose statements run
   * for minutes: that relies on TCP keep-alive.
   */
  answerTimeoutMs?: number | 'none';
}

const statementTimeoutMs = 15_000;
/** Longer than any statement may take. */
const defaultAnswerTimeoutMs = 20_000;

/** A pool of connections to the database that holds the log. Needs `postgres` as `patches/` makes it. */
export function connect(url: string, options: ConnectOptions = {}): Sql {
  const { max = 10, name = 'scanlog', planOnce = false, answerTimeoutMs = defaultAnswerTimeoutMs } = options;
  return postgres(url, {
    max,
    connect_timeout: 5,
    ...(answerTimeoutMs === 'none' ? {} : { read_timeout: answerTimeoutMs / 1_000 }),
    // The default counts the failures of all connections of a pool together, and soon waits for 20 s.
    backoff: (failures: number) => Math.min(failures * 0.05, 0.5),
    onnotice: () => {},
    // One query less on each new connection: the arrays in use are declared in `types`.
    fetch_types: false,
    types: { bigint, texts } as { bigint: typeof bigint },
    connection: {
      application_name: name,
      timezone: 'UTC',
      statement_timeout: statementTimeoutMs,
      // An append holds the log's lock until it commits: a holder that died silently must release it.
      idle_in_transaction_session_timeout: 10_000,
      ...(planOnce ? { plan_cache_mode: 'force_generic_plan' } : {}),
    },
  });
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
  'NO_ANSWER',
  'NOT_COMMITTED',
  'READ_TIMEOUT',
  'ETIMEDOUT',
  'ENOTFOUND',
  '57014', // statement time-out
  '57P01', // terminated by an administrator
  '57P02', // crash of another backend
  '57P05', // idle session time-out
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
