import { open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a file that is either the old or the new one, also after a crash. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(`${file}.new`, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
}

/** Reads the JSON that all edges below `parent` have saved under a name. Skips missing and damaged files, and other versions. */
export async function readSaved<T extends { version: number }>(
  parent: string,
  fileName: string,
  version: T['version'],
): Promise<T[]> {
  const all: T[] = [];
  for (const folder of await readdir(parent).catch(() => [])) {
    const text = await readFile(join(parent, folder, fileName), 'utf8').catch(() => '');
    try {
      const saved: T = JSON.parse(text);
      if (saved.version === version) all.push(saved);
    } catch {
      // Not written yet, or damaged.
    }
  }
  return all;
}
