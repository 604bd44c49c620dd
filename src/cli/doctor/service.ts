import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type InspectedSpool, inspectSpools } from '../spool.ts';
import { bytes, type Checks, error, type Outcome, ok, warning } from './finding.ts';

interface EdgeSettings {
  edgeFolder: string;
  spoolMaxBytes: number;
  edges: number;
}

const maxStalledSeconds = 5;

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
    file_system: () => volatileFinding(edgeFolder, statfsSync(nearest).type),
    spool: async () => {
      const spools = await inspectSpools(edgeFolder);
      const setAside = spools.reduce((sum, spool) => sum + spool.setAside, 0);
      // A running edge commits what waits within seconds.
      const isWaiting = ({ drain }: InspectedSpool) => drain === undefined || drain.stalledSeconds > maxStalledSeconds;
      const waiting = spools.filter(isWaiting).reduce((sum, spool) => sum + spool.records, 0);
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

/** File systems in memory, by their magic numbers (statfs(2)). */
const volatileTypes = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
]);

/** A spool in memory loses scans that were answered when the machine or the container restarts. */
export function volatileFinding(edgeFolder: string, type: number): Outcome {
  const name = volatileTypes.get(type);
  return name === undefined
    ? ok('EDGE_DIR is not in memory.')
    : warning(
        `EDGE_DIR ${edgeFolder} is on ${name}, which is in memory: scans that were answered but are not in Postgres yet are lost with this machine or container. Put it on a disk.`,
      );
}

/** The folder itself, or the one above it in which it would be created. */
function nearestFolder(path: string): string {
  for (let folder = path; ; folder = dirname(folder))
    if (existsSync(folder) || folder === dirname(folder)) return folder;
}
