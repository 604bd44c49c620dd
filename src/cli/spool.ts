import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config/config.ts';
import { inspectSpool, type SpoolContents } from '../edge/spool/spool.ts';
import { readStatus } from '../edge/spool/status-file.ts';
import { print, table } from './terminal.ts';

/** The folder with the spools of this machine's edges: in the data folder of `up` if that has one, else EDGE_DIR. */
export function findEdgeFolder(data: string): string {
  const embedded = join(data, 'edges');
  return existsSync(embedded) ? embedded : readConfig(process.env).edgeFolder;
}

export interface InspectedSpool extends SpoolContents {
  edge: string;
  /** Of an edge that runs: how fast it commits its scans, and how long what waits will take. */
  drain?: { scansPerSecond: number | undefined; secondsLeft: number; stalledSeconds: number };
}

/** The contents of each spool in a folder. */
export function inspectSpools(folder: string): Promise<InspectedSpool[]> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^edge-\d+$/.test(name)) : [];
  return Promise.all(names.sort().map((edge) => inspectOne(folder, edge)));
}

async function inspectOne(folder: string, edge: string): Promise<InspectedSpool> {
  const contents = await inspectSpool(join(folder, edge));
  const status = await readStatus(join(folder, edge));
  if (status === undefined) return { edge, ...contents };
  // The files of an edge that runs also hold scans that are committed.
  const { batches: records, bytes, ...drain } = status;
  return { edge, ...contents, records, bytes, drain };
}

/** Prints the scans that wait on disk for Postgres. */
export async function showSpool(options: { data: string; json?: boolean }): Promise<void> {
  const spools = await inspectSpools(findEdgeFolder(options.data));
  if (options.json) {
    print(JSON.stringify(spools));
    return;
  }
  const rows = spools.map(({ edge, records, bytes, setAside, oldest, drain }) => [
    ...[edge, String(records), String(bytes), records === 0 ? '–' : (oldest?.toISOString() ?? '–')],
    ...[drain?.scansPerSecond === undefined ? '–' : `${Math.round(drain.scansPerSecond)}/s`, timeLeft(records, drain)],
    String(setAside),
  ]);
  print(table([['EDGE', 'BATCHES', 'BYTES', 'OLDEST', 'DRAIN', 'TIME LEFT', 'SET ASIDE'], ...rows]));
  print(
    spools.every(({ records }) => records === 0)
      ? '\nNo scans are waiting.'
      : '\nEach edge sends its scans all the time while Postgres is available; a running edge also sends the scans of edges that ended.',
  );
}

function timeLeft(records: number, drain: InspectedSpool['drain']): string {
  if (records === 0) return '–';
  if (drain === undefined) return 'no edge runs';
  return drain.stalledSeconds > 5
    ? `stopped for ${Math.round(drain.stalledSeconds)} s`
    : `${Math.ceil(drain.secondsLeft)} s`;
}
