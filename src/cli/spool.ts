import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config.ts';
import { inspectSpool } from '../edge/spool.ts';
import { say, table } from './terminal.ts';

/** Shows what waits on disk for Postgres. */
export async function showSpool(options: { data: string; json?: boolean }): Promise<void> {
  const embedded = join(options.data, 'edges');
  const parent = existsSync(embedded) ? embedded : readConfig(process.env).edgeFolder;
  const names = existsSync(parent) ? readdirSync(parent).filter((name) => /^edge-\d+$/.test(name)) : [];
  const spools = await Promise.all(
    names.sort().map(async (edge) => ({ edge, ...(await inspectSpool(join(parent, edge))) })),
  );
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
