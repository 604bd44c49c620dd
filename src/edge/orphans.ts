import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { NewerVersion } from '../../events/wire/newer-version.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { isAway } from '../log/connect.ts';
import { removeSnapshot } from './snapshot.ts';
import { openSpool, type Spool, SpoolInUse, SpoolUnusable } from './spool.ts';

export interface Orphans {
  /** Sends what edges left in their spools that no longer run. Rejects when Postgres does not take it. */
  adopt(): Promise<void>;
  /** A sentence for each spool that cannot be read. */
  unreadable(): string[];
}

interface OrphansOptions {
  /** The folder of all edges of this machine, and this edge's own in it. */
  parent: string;
  own: string;
  send(record: Uint8Array): Promise<unknown>;
  /** Ends an adoption after the batch under way. */
  signal: AbortSignal;
  log: Logger;
  metrics: Metrics;
}

export function createOrphans({ parent, own, send, signal, log, metrics }: OrphansOptions): Orphans {
  let unreadable = new Map<string, string>();

  async function adoptOne(name: string): Promise<void> {
    const path = join(parent, name);
    const onEvent = (event: object) => log.error({ folder: name, ...event }, 'spool of an earlier edge');
    const orphan = await openSpool({ folder: path, maxBytes: Number.MAX_SAFE_INTEGER, onEvent });
    try {
      const batches = await sendAll(orphan, path);
      if (orphan.waiting.records > 0) return;
      // It holds visitor keys, which must not outlive their codes, and no edge keeps it current any more.
      await removeSnapshot(path);
      if (batches > 0) log.info({ batches, folder: name }, 'sent what an earlier edge had spooled');
    } finally {
      await orphan.close();
    }
  }

  async function sendAll(orphan: Spool, path: string): Promise<number> {
    const orUnusable = (error: unknown) => Promise.reject(new SpoolUnusable(path, error));
    let batches = 0;
    for (; !signal.aborted; batches++) {
      const record = await orphan.peek().catch(orUnusable);
      if (record === undefined) break;
      await send(record);
      await orphan.drop().catch(orUnusable);
    }
    return batches;
  }

  /** Acknowledged scans are in there, so an operator must see it: once as an error, and as a metric while it lasts. */
  function note(found: Map<string, string>): void {
    for (const [folder, error] of found)
      if (unreadable.get(folder) !== error)
        log.error({ folder, error }, 'scans of an earlier edge cannot be read from its spool and are not stored');
    for (const folder of unreadable.keys())
      if (!found.has(folder)) log.info({ folder }, 'the spool of an earlier edge can be read again');
    unreadable = found;
    metrics.unreadableSpools.set(found.size);
  }

  return {
    async adopt() {
      const found = new Map<string, string>();
      let refused: unknown;
      for (const name of await readdir(parent)) {
        if (signal.aborted) return;
        if (join(parent, name) === own || !/^edge-\d+$/.test(name)) continue;
        await adoptOne(name).catch((error) => {
          if (error instanceof SpoolUnusable || error instanceof NewerVersion)
            return void found.set(name, messageOf(error));
          if (error instanceof SpoolInUse) return;
          if (isAway(error)) throw error;
          // What Postgres refuses in one spool must not keep it from the others.
          refused ??= error;
        });
      }
      note(found);
      if (refused !== undefined) throw refused;
    },
    unreadable: () => [...unreadable.values()],
  };
}
