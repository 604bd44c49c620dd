import type { Queryable } from '../lib/sql.ts';

export const listOrders = [
  '-created_at',
  'created_at',
  'name',
  '-name',
  'destination_url',
  '-destination_url',
  'status',
  '-status',
  '-total_scans',
  'total_scans',
] as const;
export type ListOrder = (typeof listOrders)[number];

type SortField = 'name' | 'destination_url' | 'status' | 'total_scans';

/** What a list is sorted by before `position`, the log position. Without a field, that is all, since codes are created in its order. */
function readOrder(order: ListOrder): { field: SortField | undefined; isDescending: boolean } {
  const name = order.replace(/^-/, '') as SortField | 'created_at';
  return { field: name === 'created_at' ? undefined : name, isDescending: order.startsWith('-') };
}

/** SQL for a column of codes and for a value of it, as they are compared. */
const comparedIn = (sql: Queryable, field: SortField, value: string | number | undefined) =>
  ({
    name: {
      column: sql`lower(name) COLLATE natural_names`,
      value: sql`lower(${String(value)}::text) COLLATE natural_names`,
    },
    // By bytes: a URL is in no language.
    destination_url: { column: sql`destination_url COLLATE "C"`, value: sql`${String(value)}::text COLLATE "C"` },
    status: { column: sql`status`, value: sql`${String(value)}::text` },
    total_scans: { column: sql`coalesce(n.total_scans, 0)`, value: sql`${Number(value)}::bigint` },
  })[field];

/** SQL of an order. `position` breaks ties, newest first, so that pages never overlap. */
export function orderBy(sql: Queryable, order: ListOrder) {
  const { field, isDescending } = readOrder(order);
  if (field === undefined) return isDescending ? sql`position DESC` : sql`position`;
  const { column } = comparedIn(sql, field, undefined);
  return isDescending ? sql`${column} DESC, position DESC` : sql`${column}, position DESC`;
}

/** A place in a list, after one of its codes: what this code is sorted by. */
export interface ListPosition {
  position: number;
  value?: string | number;
}

/** SQL for the codes that an order has after a position. */
export function isAfter(sql: Queryable, order: ListOrder, after: ListPosition) {
  const { field, isDescending } = readOrder(order);
  if (field === undefined) return isDescending ? sql`position < ${after.position}` : sql`position > ${after.position}`;
  const { column, value } = comparedIn(sql, field, after.value);
  const comesAfter = isDescending ? sql`${column} < ${value}` : sql`${column} > ${value}`;
  return sql`(${comesAfter} OR ${column} = ${value} AND position < ${after.position})`;
}

/** Codes in the order of a list, and where the list goes on after them: null at its end. */
export interface ListedPage<C> {
  codes: C[];
  next: ListPosition | null;
}

interface SortedCode {
  position: number;
  name: string;
  destination_url: string;
  status: string;
  total_scans?: number;
}

/** The page of the first `limit` rows, of a statement that reads one more to find out whether there is a next page. */
export function splitPage<C extends SortedCode>(rows: C[], order: ListOrder, limit: number): ListedPage<C> {
  const codes = rows.slice(0, limit);
  const last = codes.at(-1);
  if (rows.length <= limit || last === undefined) return { codes, next: null };
  const { field } = readOrder(order);
  const value = field === undefined ? undefined : last[field];
  return { codes, next: { position: last.position, ...(value === undefined ? {} : { value }) } };
}
