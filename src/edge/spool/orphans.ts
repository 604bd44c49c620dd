import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { NewerVersion } from '../../../events/wire/newer-version.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { isPostgresUnavailable } from '../../log/connect.ts';
import { removeSnapshot } from '../snapshot.ts';
import type { StoreOptions } from './refused-scans.ts';
import { sendOldest } from './send-oldest.ts';
import { openSpool, type Spool, SpoolInUse, SpoolUnusable } from './spool.ts';

interface OrphansOptions {
  /** The folder of all edges of this machine, and this edge's own in it. */
  parent: string;
  own: string;
  storing: StoreOptions;
  /** Stops after the current batch. */
  signal: AbortSignal;
  log: Logger;
  metrics: Metrics;
}

/** The spools of edges that no longer run. */
export class Orphans {
  readonly #options: OrphansOptions;
  #unreadable = new Map<string, string>();

  constructor(options: OrphansOptions) {
    this.#options = options;
  }

  /** Sends all spools. Rejects when Postgres is unavailable or refuses a batch. */
  async adopt(): Promise<void> {
    const { parent, own, signal } = this.#options;
    const unreadable = new Map<string, string>();
    let refused: unknown;
    for (const name of await readdir(parent)) {
      if (signal.aborted) return;
      if (join(parent, name) === own || !/^edge-\d+$/.test(name)) continue;
      await this.#adoptOne(name).catch((error) => {
        if (error instanceof SpoolUnusable || error instanceof NewerVersion)
          return void unreadable.set(name, messageOf(error));
        if (error instanceof SpoolInUse) return this.#keepFinding(name, unreadable);
        if (isPostgresUnavailable(error)) throw error;
        // A batch that Postgres refuses must not block the other spools.
        refused ??= error;
      });
    }
    this.#report(unreadable);
    if (refused !== undefined) throw refused;
  }

  /** A sentence for each spool that cannot be read. */
  unreadable(): string[] {
    return [...this.#unreadable.values()];
  }

  /** Another edge is looking at the spool, which says nothing about whether it can be read. */
  #keepFinding(name: string, unreadable: Map<string, string>): void {
    const error = this.#unreadable.get(name);
    if (error !== undefined) unreadable.set(name, error);
  }

  async #adoptOne(name: string): Promise<void> {
    const { parent, log } = this.#options;
    const path = join(parent, name);
    const onEvent = (event: object) =>
      log.error({ folder: name, ...event }, 'the spool of an earlier edge has a problem');
    const spool = await openSpool({ folder: path, maxBytes: Number.MAX_SAFE_INTEGER, onEvent });
    try {
      const batches = await this.#sendAll(spool, path);
      if (spool.waiting.records > 0) return;
      // The snapshot holds visitor keys, which must be deleted with their codes, and no edge updates it any more.
      await removeSnapshot(path);
      if (batches > 0) log.info({ batches, folder: name }, 'committed the spooled scans of an earlier edge');
    } finally {
      await spool.close();
    }
  }

  async #sendAll(spool: Spool, path: string): Promise<number> {
    const { storing, signal } = this.#options;
    const orUnusable = (error: unknown) => Promise.reject(new SpoolUnusable(path, error));
    const readable: Pick<Spool, 'peek' | 'drop'> = {
      peek: (maxBytes) => spool.peek(maxBytes).catch(orUnusable),
      drop: (count) => spool.drop(count).catch(orUnusable),
    };
    let batches = 0;
    while (!signal.aborted) {
      const { records } = await sendOldest(readable, storing);
      if (records === 0) break;
      batches += records;
    }
    return batches;
  }

  /** An unreadable spool contains acknowledged scans, so it is logged once as an error and shown as a metric. */
  #report(unreadable: Map<string, string>): void {
    const { log, metrics } = this.#options;
    for (const [folder, error] of unreadable)
      if (this.#unreadable.get(folder) !== error)
        log.error(
          { folder, error },
          'the spool of an earlier edge cannot be read: its scans are not committed until it can',
        );
    for (const folder of this.#unreadable.keys())
      if (!unreadable.has(folder)) log.info({ folder }, 'the spool of an earlier edge can be read again');
    this.#unreadable = unreadable;
    metrics.unreadableSpools.set(unreadable.size);
  }
}
