import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Geo, type GeoEvent, mapFile, openGeo } from '../../src/geo/geo.ts';
import { parseAddress } from '../../src/lib/ip-address.ts';
import { eventually } from '../support/eventually.ts';
import { type ManualTimers, manualTimers } from '../support/timers.ts';

const require = createRequire(import.meta.url);
const maxmindFiles = join(dirname(require.resolve('maxmind-test-data/package.json')), 'test/data/test-data');
const maxmindCity = join(maxmindFiles, 'GeoIP2-City-Test.mmdb');

function address(text: string): Uint8Array {
  const bytes = parseAddress(text);
  if (!bytes) throw new Error(`${text} is not an address`);
  return bytes;
}

describe('a geography database that changes at runtime', () => {
  let folder: string;
  let path: string;
  let geo: Geo | undefined;
  let events: GeoEvent[];
  let timers: ManualTimers;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'geo-'));
    path = join(folder, 'city.mmdb');
    events = [];
    timers = manualTimers();
  });
  afterEach(() => {
    geo?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (onEvent = (event: GeoEvent) => void events.push(event)) => {
    copyFileSync(maxmindCity, path);
    geo = await openGeo({ path, onEvent, timers });
    return geo;
  };
  /** Replaces the file atomically, as an updater should. */
  const replaceBy = (content: Buffer) => {
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
  };
  const countries = () => readFileSync(join(maxmindFiles, 'GeoIP2-Country-Test.mmdb'));
  /** Lets one check happen. */
  const check = async () => {
    await timers.next();
    await eventually(() => expect(timers.waiting).toBe(1));
  };
  /** Two checks, because a file that changed since the last one may still be being written. Returns their last event. */
  const eventOf = async (kind: GeoEvent['kind']) => {
    const before = events.length;
    await check();
    expect(events, 'one check is not enough').toHaveLength(before);
    await check();
    expect(events.at(-1)).toMatchObject({ kind });
    return events.at(-1);
  };
  const cityOfLondon = () => geo?.lookup(address('81.2.69.160')).city;

  it('is reloaded when the file is replaced by a rename', async () => {
    await open();
    expect(cityOfLondon()).toBe('London');
    replaceBy(countries());
    expect(await eventOf('geo_reloaded')).toMatchObject({ path, type: 'GeoIP2-Country' });
    expect(cityOfLondon()).toBe('Unknown');
  });

  it.each([
    ['a truncated file', () => countries().subarray(0, 9000)],
    ['an empty file', () => Buffer.alloc(0)],
    ['random bytes', () => randomBytes(20_000)],
    ['a database without countries', () => readFileSync(join(maxmindFiles, 'GeoIP2-ISP-Test.mmdb'))],
    ['a tree longer than the file', () => countries().subarray(12_000)],
  ])('is kept when replaced by %s, until the next valid file', async (_, content) => {
    await open();
    replaceBy(content());
    expect(await eventOf('geo_rejected')).toMatchObject({ path, reason: expect.stringMatching(/^its? /) });
    expect(cityOfLondon()).toBe('London');
    replaceBy(countries());
    await eventOf('geo_reloaded');
    expect(cityOfLondon()).toBe('Unknown');
    expect(events.map((event) => event.kind)).toEqual(['geo_rejected', 'geo_reloaded']);
  });

  it('is kept while a new file is being written in place', async () => {
    await open();
    writeFileSync(path, countries().subarray(0, 9000));
    await eventOf('geo_rejected');
    expect(cityOfLondon()).toBe('London');
    writeFileSync(path, countries());
    await eventOf('geo_reloaded');
    expect(cityOfLondon()).toBe('Unknown');
  });

  it('is kept while the file is missing, which is reported once', async () => {
    await open();
    rmSync(path);
    expect(await eventOf('geo_rejected')).toMatchObject({ reason: 'it is no longer there' });
    expect(cityOfLondon()).toBe('London');
    replaceBy(countries());
    await eventOf('geo_reloaded');
    expect(events).toHaveLength(2);
  });

  it('is reloaded although the event listener throws', async () => {
    const kinds: string[] = [];
    await open((event) => {
      kinds.push(event.kind);
      throw new Error('the log is full');
    });
    replaceBy(Buffer.alloc(10));
    for (const _ of [1, 2]) await check();
    expect(kinds).toEqual(['geo_rejected']);
    replaceBy(countries());
    for (const _ of [1, 2]) await check();
    expect(cityOfLondon()).toBe('Unknown');
  });

  it('is not watched after close, while another instance still is', async () => {
    const closed = await open();
    closed.close();
    const reloads: GeoEvent[] = [];
    geo = await openGeo({ path, timers, onEvent: (event) => reloads.push(event) });
    for (const times of [1, 2]) {
      replaceBy(countries());
      for (const _ of [1, 2]) await check();
      expect(reloads).toHaveLength(times);
    }
    expect(events).toEqual([]);
    expect(closed.lookup(address('81.2.69.160')).city).toBe('London');
  });
});

describe('a geography database that cannot be mapped', () => {
  const failWith = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };

  it.each(['EACCES', 'EPERM', 'EROFS'])(
    'is read after %s: another user owns it, or the disk is read-only',
    async (code) => {
      expect(await mapFile(maxmindCity, failWith(code))).toEqual(readFileSync(maxmindCity));
    },
  );

  it('is not read after another error', async () => {
    await expect(mapFile(maxmindCity, failWith('ENOMEM'))).rejects.toThrow('ENOMEM');
  });
});
