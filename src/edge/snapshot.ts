import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Route } from '../../projections/routes.ts';

const fileName = 'routes.jsonl';
const linesAtOnce = 500;

/** Writes the routes beside the old snapshot, then takes its place. It holds visitor keys: nobody else may read it. */
export async function writeSnapshot(folder: string, routes: Iterable<Route>): Promise<void> {
  const file = join(folder, fileName);
  const handle = await open(`${file}.new`, 'w', 0o600);
  try {
    let lines: string[] = [];
    for (const { visitor_key, ...route } of routes) {
      lines.push(JSON.stringify({ ...route, visitor_key: Buffer.from(visitor_key).toString('hex') }));
      if (lines.length < linesAtOnce) continue;
      await handle.write(`${lines.join('\n')}\n`);
      lines = [];
      // Many routes take a while to write; redirects go on in between.
      await breathe();
    }
    if (lines.length > 0) await handle.write(`${lines.join('\n')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
}

export const removeSnapshot = (folder: string) => rm(join(folder, fileName), { force: true });

/** The routes of all snapshots below `parent`, each in its newest version. What cannot be read is not worth a failed start. */
export async function readSnapshots(parent: string): Promise<Iterable<Route>> {
  const routes = new Map<string, Route>();
  for (const folder of await readdir(parent).catch(() => [])) {
    const text = await readFile(join(parent, folder, fileName), 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      const route = readLine(line);
      if (route === undefined) continue;
      if ((routes.get(route.short_code)?.version ?? 0) < route.version) routes.set(route.short_code, route);
    }
  }
  return routes.values();
}

function readLine(line: string): Route | undefined {
  try {
    const { visitor_key, ...rest } = JSON.parse(line);
    return { ...rest, visitor_key: Buffer.from(visitor_key, 'hex') };
  } catch {
    return undefined;
  }
}
