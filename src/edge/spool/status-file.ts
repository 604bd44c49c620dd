import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, markOf, type ProcessMark } from '../../lib/process-mark.ts';
import type { DrainStatus } from './drain.ts';

/** Written for `./scanlog spool`, and read only while the process that wrote it runs: nothing depends on it. */
const fileName = 'drain.json';

export async function writeStatus(folder: string, status: DrainStatus): Promise<void> {
  const file = join(folder, fileName);
  await writeFile(`${file}.new`, JSON.stringify({ process: markOf(process.pid), status }), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** The status of the spool in a folder; undefined if no running process drains it. */
export async function readStatus(folder: string): Promise<DrainStatus | undefined> {
  try {
    const text = await readFile(join(folder, fileName), 'utf8');
    const { process, status } = JSON.parse(text) as { process: ProcessMark; status: DrainStatus };
    return isAlive(process) ? status : undefined;
  } catch {
    // It is missing or, since it is not synced, empty after a power failure.
    return undefined;
  }
}
