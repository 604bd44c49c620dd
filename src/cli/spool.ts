import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config.ts';
import { inspectSpool, type SpoolContents } from '../edge/spool.ts';
import { say, table } from './terminal.ts';

/** The folder that the edges of this machine keep their spools in: that of `up`, or EDGE_DIR. */
export function findEdgeFolder(data: string): string {
  const embedded = join(data, 'edges');
  return existsSync(embedded) ? embedded : readConfig(process.env).edgeFolder;
}

/** What waits in the spools of a folder, edge by edge. */
export function inspectSpools(folder: string): Promise<(SpoolContents & { edge: string })[]> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^edge-\d+$/.test(name)) : [];
  return Promise.all(names.sort().map(async (edge) => ({ edge, ...(await inspectSpool(join(folder, edge))) })));
}

/** Shows what waits on disk for Postgres. */
export async function showSpool(options: { data: string; json?: boolean }): Promise<void> {
  const spools = await inspectSpools(findEdgeFolder(options.data));
  if (options.json) {
    say(JSON.stringify(spools));
    return;
  }
  const rows = spools.map(({ edge, records, bytes, setAside, oldest }) => [
    ...[edge, String(records), String(bytes), oldest?.toISOString() ?? '–', String(setAside)],
  ]);
  say(table([['EDGE', 'BATCHES', 'BYTES', 'OLDEST', 'SET ASIDE'], ...rows]));
  say(spools.every(({ records }) => records === 0) ? '\nNothing waits.' : '\nThese are sent when Postgres is back.');
}
