import { ClickHouseError } from '@clickhouse/client';
import { messageOf } from '../lib/errors.ts';

/** The warehouse could not be read now; a while later it may. */
export class WarehouseAway extends Error {}

const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof ClickHouseError && codes.includes(error.code);

/** The table does not exist, or not even its database. */
export const isUnknownTable = (error: unknown): boolean => hasCode(error, '60', '81');
export const isUnknownDatabase = (error: unknown): boolean => hasCode(error, '81');
/** The user lacks a grant. */
export const isAccessDenied = (error: unknown): boolean => hasCode(error, '497');
/** The statement is for replicated tables, and the table is none. */
export const isNotReplicated = (error: unknown): boolean => hasCode(error, '36', '48');

const passing = new Set([
  '159', // takes longer than it may
  '160', // would take longer
  '202', // too many queries at once
  '209', // time-out between servers
  '210', // network between servers
  '225', // no Keeper
  '236', // aborted, as at a shutdown
  '241', // memory limit
  '242', // table is read-only
  '279', // no server of the cluster answers
  '289', // a replica lags behind
  '394', // cancelled
  '439', // no thread to be had
  '516', // wrong password
  '745', // overloaded
  '999', // Keeper
  '1002', // the engine itself broke
]);

/** What a read has thrown, told apart: a query that is wrong is our fault, anything else passes. */
export function readFault(error: unknown): unknown {
  const ours = error instanceof ClickHouseError && !passing.has(error.code);
  return ours ? error : new WarehouseAway(messageOf(error), { cause: error });
}

export const isWarehouseAway = (error: unknown): boolean => error instanceof WarehouseAway || isUnknownTable(error);
