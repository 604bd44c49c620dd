import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Route, RouteSnapshot } from '../../events/route.ts';
import { decodeSnapshot, encodeAlias, encodeRoute, snapshotHead } from '../../events/wire/route-snapshot.ts';
import { messageOf } from '../lib/errors.ts';
import type { SecretBox } from '../lib/secret-box.ts';

const fileName = 'routes.jsonl';
const linesPerWrite = 500;

/** Writes the routes, whose visitor keys are encrypted, to a new file that then replaces the old one. */
export async function writeSnapshot(
  folder: string,
  { fingerprint }: SecretBox,
  { routes, aliases }: RouteSnapshot,
): Promise<void> {
  const file = join(folder, fileName);
  const handle = await open(`${file}.new`, 'w', 0o600);
  try {
    let lines = [snapshotHead(fingerprint.toString('hex'))];
    for (const line of linesOf(routes, aliases)) {
      lines.push(line);
      if (lines.length < linesPerWrite) continue;
      await handle.write(`${lines.join('\n')}\n`);
      lines = [];
      // Lets redirects run: 200,000 routes take about 0.5 s to write.
      await yieldToEventLoop();
    }
    if (lines.length > 0) await handle.write(`${lines.join('\n')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
}

function* linesOf(routes: Iterable<Route>, aliases: Iterable<[string, string]>): Iterable<string> {
  for (const route of routes) yield encodeRoute(route);
  for (const alias of aliases) yield encodeAlias(alias);
}

export const removeSnapshot = (folder: string) => rm(join(folder, fileName), { force: true });

/**
 * Reads the routes of all snapshots below `parent`, each in its newest version. A snapshot is a cache: one that cannot be
 * read is reported to `onIgnored`, and the edge starts without it.
 */
export async function readSnapshots(
  parent: string,
  box: SecretBox,
  onIgnored: (ignored: { file: string; error: string }) => void = () => {},
): Promise<RouteSnapshot> {
  const keys = { fingerprint: box.fingerprint.toString('hex'), seal: box.sealVisitorKey };
  const routes = new Map<string, Route>();
  const aliases = new Map<string, string>();
  for (const folder of await readdir(parent).catch(() => [])) {
    const file = join(parent, folder, fileName);
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text === '') continue;
    try {
      const read = decodeSnapshot(text, keys);
      for (const route of read.routes)
        if ((routes.get(route.short_code)?.version ?? 0) < route.version) routes.set(route.short_code, route);
      for (const [requested, shortCode] of read.aliases) aliases.set(requested, shortCode);
    } catch (error) {
      onIgnored({ file, error: messageOf(error) });
    }
  }
  return { routes: routes.values(), aliases };
}
