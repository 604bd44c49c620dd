import { ClickHouseError } from '@clickhouse/client';
import { messageOf } from '../lib/errors.ts';

/** The warehouse is temporarily unavailable. */
export class WarehouseUnavailable extends Error {}

const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof ClickHouseError && codes.includes(error.code);

/** The table or its database does not exist. */
export const isUnknownTable = (error: unknown): boolean => hasCode(error, '60', '81');
export const isUnknownDatabase = (error: unknown): boolean => hasCode(error, '81');
/** The user lacks a grant. */
export const isAccessDenied = (error: unknown): boolean => hasCode(error, '497');
/** The statement needs a replicated table, and the table is not replicated. */
export const isNotReplicated = (error: unknown): boolean => hasCode(error, '36', '48');

const temporaryCodes = new Set([
  '159', // timeout exceeded
  '160', // too slow: estimated time exceeds the timeout
  '202', // too many simultaneous queries
  '209', // socket timeout between servers
  '210', // network error between servers
  '225', // no Keeper
  '236', // aborted, for example by a shutdown
  '241', // memory limit
  '242', // table is read-only
  '279', // all connections to the cluster failed
  '289', // a replica lags
  '394', // cancelled
  '439', // cannot start a thread
  '516', // wrong password
  '745', // overloaded
  '999', // Keeper
  '1002', // unknown exception, also any error of the embedded engine without a code
]);

/** Wraps temporary errors of a read in `WarehouseUnavailable`; errors of a wrong query are returned unchanged. */
export function classifyReadError(error: unknown): unknown {
  const isWrongQuery = error instanceof ClickHouseError && !temporaryCodes.has(error.code);
  return isWrongQuery ? error : new WarehouseUnavailable(messageOf(error), { cause: error });
}

export const isWarehouseUnavailable = (error: unknown): boolean =>
  error instanceof WarehouseUnavailable || isUnknownTable(error);
