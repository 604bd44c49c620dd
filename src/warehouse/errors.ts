import { ClickHouseError } from '@clickhouse/client';

/** Whether there is no such table, or not even its database. */
export const isUnknownTable = (error: unknown): boolean =>
  error instanceof ClickHouseError && ['60', '81'].includes(error.code);
