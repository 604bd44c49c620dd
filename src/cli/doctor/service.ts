import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { inspectSpools } from '../spool.ts';
import { bytes, type Checks, error, ok, warning } from './finding.ts';

interface EdgeSettings {
  edgeFolder: string;
  spoolMaxBytes: number;
  edges: number;
}

/** Checks of this machine, for running edges on it. */
export function serviceChecks({ edgeFolder, spoolMaxBytes, edges }: EdgeSettings): Checks {
  const nearest = nearestFolder(edgeFolder);
  return {
    edge_folder: () => {
      try {
        accessSync(nearest, constants.W_OK);
        return ok(`${edgeFolder} is writable.`);
      } catch {
        return error(`${nearest} is not writable for this user: correct EDGE_DIR, or the owner of the folder.`);
      }
    },
    disk: () => {
      const { bavail, bsize } = statfsSync(nearest);
      const free = bavail * bsize;
      const needed = spoolMaxBytes * edges;
      return free >= needed
        ? ok(`The disk of EDGE_DIR has ${bytes(free)} free.`)
        : warning(
            `The disk of EDGE_DIR has only ${bytes(free)} free, and the spool takes up to ${bytes(needed)} while Postgres is unavailable: free some space, or lower SPOOL_MAX_BYTES.`,
          );
    },
    spool: async () => {
      const spools = await inspectSpools(edgeFolder);
      const setAside = spools.reduce((sum, spool) => sum + spool.setAside, 0);
      const waiting = spools.reduce((sum, spool) => sum + spool.records, 0);
      if (setAside > 0)
        return error(
          `${setAside} files of the spool were set aside as damaged (${edgeFolder}): keep them, and see docs/operations.md.`,
        );
      return waiting === 0
        ? ok('No scans are waiting on this machine.')
        : warning(
            `${waiting} batches of scans in ${edgeFolder} wait for Postgres: keep this folder until ./scanlog spool shows none.`,
          );
    },
  };
}

/** The folder itself, or the one above it in which it would be created. */
function nearestFolder(path: string): string {
  for (let folder = path; ; folder = dirname(folder))
    if (existsSync(folder) || folder === dirname(folder)) return folder;
}
