import { statfs } from 'node:fs/promises';
import { messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';

const intervalMs = 10_000;

/** Measures the disk that holds the spool: when it is full, redirects answer 503. */
export function measureDisk(folder: string, log: Logger, { edgeDiskFree, edgeDiskSize }: Metrics): Loop {
  async function measure(): Promise<void> {
    const { bsize, bavail, blocks } = await statfs(folder);
    edgeDiskFree.set(bavail * bsize);
    edgeDiskSize.set(blocks * bsize);
  }
  return every(intervalMs, measure, {
    onError: (error) => log.warn({ error: messageOf(error) }, 'the disk of EDGE_DIR could not be measured'),
    ref: false,
  });
}
