import postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;
export type Transaction = postgres.TransactionSql<{ bigint: number }>;
/** The whole connection or one transaction on it. */
export type Queryable = postgres.ISql<{ bigint: number }>;

/** A pool of connections to the database that holds the log. */
export function connect(url: string, options: { max?: number; name?: string } = {}): Sql {
  return postgres(url, {
    max: options.max ?? 10,
    connect_timeout: 5,
    onnotice: () => {},
    // Positions and counts stay far below 2^53, so plain numbers hold them.
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    connection: {
      application_name: options.name ?? 'scanlog',
      timezone: 'UTC',
      statement_timeout: 15_000,
      // An append holds the log's lock until it commits: a holder that died silently must not hold everybody up.
      idle_in_transaction_session_timeout: 10_000,
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
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return awayCodes.has(code) || code.startsWith('08');
}

/** Whether an error is a lost race for what `constraint` keeps unique. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof postgres.PostgresError && error.code === '23505' && error.constraint_name === constraint;
}
