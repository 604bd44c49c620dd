import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config/config.ts';
import { inspectSpool, type SpoolContents } from '../edge/spool/spool.ts';
import { print, table } from './terminal.ts';

/** The folder with the spools of this machine's edges: in the data folder of `up` if that has one, else EDGE_DIR. */
export function findEdgeFolder(data: string): string {
  const embedded = join(data, 'edges');
  return existsSync(embedded) ? embedded : readConfig(process.env).edgeFolder;
}

/** The contents of each spool in a folder. */
export function inspectSpools(folder: string): Promise<(SpoolContents & { edge: string })[]> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^edge-\d+$/.test(name)) : [];
  return Promise.all(names.sort().map(async (edge) => ({ edge, ...(await inspectSpool(join(folder, edge))) })));
}

/** Prints the scans that wait on disk for Postgres. */
export async function showSpool(options: { data: string; json?: boolean }): Promise<void> {
  const spools = await inspectSpools(findEdgeFolder(options.data));
  if (options.json) {
    print(JSON.stringify(spools));
    return;
  }
  const rows = spools.map(({ edge, records, bytes, setAside, oldest }) => [
    ...[edge, String(records), String(bytes), oldest?.toISOString() ?? '–', String(setAside)],
  ]);
  print(table([['EDGE', 'BATCHES', 'BYTES', 'OLDEST', 'SET ASIDE'], ...rows]));
  print(
    spools.every(({ records }) => records === 0)
      ? '\nNo scans are waiting.'
      : '\nEach edge sends its scans when Postgres is available.',
  );
}
