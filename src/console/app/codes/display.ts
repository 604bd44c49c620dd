import { isObject, stored } from '../stored.ts';

/** What the list shows of a code beside its name. */
export const columns = [
  ['tags', 'Tags'],
  ['destination', 'Destination'],
  ['status', 'Status'],
  ['recent', 'Scans, 30 days'],
  ['total', 'Scans, all time'],
  ['created', 'Created'],
] as const;
export type Column = (typeof columns)[number][0];

/** How the list is shown. */
export interface Display {
  columns: Column[];
  isCompact: boolean;
}

export const everyColumn = columns.map(([column]) => column);

export function displayOf(value: unknown): Display {
  if (!isObject(value)) return { columns: everyColumn, isCompact: false };
  const chosen = value['columns'];
  return {
    columns: Array.isArray(chosen) ? everyColumn.filter((column) => chosen.includes(column)) : everyColumn,
    isCompact: value['isCompact'] === true,
  };
}

export const display = stored('list', displayOf);
