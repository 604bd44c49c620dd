import type { Warehouse } from './connect.ts';
import { countRows, createTable, definition, dropTable } from './tables.ts';
import { whileItAnswers } from './watched.ts';
import { type CodeKey, countRowsOf, insertScans, removeRowsOf, type ScanLines } from './write.ts';

/** The tables of a warehouse as the projection that fills them sees them. */
export function scanTables(warehouse: Warehouse) {
  const watched = <T>(work: Promise<T>) => whileItAnswers(warehouse, work);
  return {
    definition: definition.number,
    create: (version: number) => watched(createTable(warehouse, version)),
    drop: (version: number) => watched(dropTable(warehouse, version)),
    count: (version: number) => watched(countRows(warehouse, version)),
    countOf: (version: number, codes: CodeKey[]) => watched(countRowsOf(warehouse, version, codes)),
    insert: (version: number, scans: ScanLines, token: string) =>
      watched(insertScans(warehouse, version, scans, token)),
    remove: (version: number, codes: CodeKey[]) => watched(removeRowsOf(warehouse, version, codes)),
  };
}
