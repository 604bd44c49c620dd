import type { Warehouse } from './connect.ts';
import { countRows, createTable, definition, dropTable } from './tables.ts';
import { type CodeKey, countRowsOf, insertScans, removeRowsOf } from './write.ts';

/** The tables of a warehouse as the projection that fills them sees them. */
export const scanTables = (warehouse: Warehouse) => ({
  definition: definition.number,
  create: (version: number) => createTable(warehouse, version),
  drop: (version: number) => dropTable(warehouse, version),
  count: (version: number) => countRows(warehouse, version),
  countOf: (version: number, codes: CodeKey[]) => countRowsOf(warehouse, version, codes),
  insert: (version: number, { lines }: { lines: string }, token: string) =>
    insertScans(warehouse, version, lines, token),
  remove: (version: number, codes: CodeKey[]) => removeRowsOf(warehouse, version, codes),
});
