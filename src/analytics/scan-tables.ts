import type { Warehouse } from './connect.ts';
import { countRows, createTable, definition, dropTable, syncReplica, updateSettings } from './tables.ts';
import { quorumSettings, readTopology, type Topology } from './topology.ts';
import { whileAlive } from './watched.ts';
import { countRowsOf, insertScans, type LeavingRows, removeRowsOf, type ScanLines } from './write.ts';

/** The operations of the analytics projection on warehouse tables. Each rejects when ClickHouse stops responding. */
export function scanTables(warehouse: Warehouse) {
  const watched = <T>(work: Promise<T>) => whileAlive(warehouse, work);
  let topology: Topology | undefined;
  let versionWithCurrentSettings: number | undefined;

  async function prepare(version: number): Promise<void> {
    topology = await readTopology(warehouse);
    if (versionWithCurrentSettings === version) return;
    await updateSettings(warehouse, topology, version);
    versionWithCurrentSettings = version;
  }

  async function insert(version: number, scans: ScanLines, token: string): Promise<void> {
    topology ??= await readTopology(warehouse);
    await insertScans(warehouse, version, scans, token, quorumSettings(topology));
  }

  return {
    definition: definition.number,
    create: (version: number) => watched(createTable(warehouse, version)),
    prepare: (version: number) => watched(prepare(version)),
    drop: (version: number) => watched(dropTable(warehouse, version)),
    count: (version: number) => watched(countRows(warehouse, version)),
    sync: (version: number) => watched(syncReplica(warehouse, version)),
    countOf: (version: number, rows: LeavingRows) => watched(countRowsOf(warehouse, version, rows)),
    insert: (version: number, scans: ScanLines, token: string) => watched(insert(version, scans, token)),
    remove: (version: number, rows: LeavingRows) => watched(removeRowsOf(warehouse, version, rows)),
  };
}
