import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Geo, type GeoEvent, openGeo } from '../../src/edge/geo.ts';
import { parseAddress } from '../../src/lib/ip-address.ts';

const require = createRequire(import.meta.url);
const maxmindFiles = join(dirname(require.resolve('maxmind-test-data/package.json')), 'test/data/test-data');
const maxmindCity = join(maxmindFiles, 'GeoIP2-City-Test.mmdb');

function address(text: string): Uint8Array {
  const bytes = parseAddress(text);
  if (!bytes) throw new Error(`${text} is no address`);
  return bytes;
}

describe('a place database that changes while the service runs', () => {
  let folder: string;
  let path: string;
  let geo: Geo | undefined;
  let events: GeoEvent[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'geo-'));
    path = join(folder, 'city.mmdb');
    events = [];
  });
  afterEach(() => {
    geo?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (onEvent = (event: GeoEvent) => void events.push(event)) => {
    copyFileSync(maxmindCity, path);
    geo = await openGeo({ path, onEvent, checkEveryMs: 5 });
    return geo;
  };
  /** As an updater should: written beside, then put in place in one step. */
  const replaceBy = (content: Buffer) => {
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
  };
  const countries = () => readFileSync(join(maxmindFiles, 'GeoIP2-Country-Test.mmdb'));
  const happened = (kind: GeoEvent['kind']) =>
    vi.waitFor(() => {
      const event = events.find((one) => one.kind === kind);
      if (!event) throw new Error(`no ${kind} among ${JSON.stringify(events)}`);
      return event;
    });
  const cityOfLondon = () => geo?.lookup(address('81.2.69.160')).city;

  it('given a new file by rename, is used without a restart', async () => {
    await open();
    expect(cityOfLondon()).toBe('London');
    replaceBy(countries());
    expect(await happened('geo_reloaded')).toMatchObject({ path, type: 'GeoIP2-Country' });
    expect(cityOfLondon()).toBe('Unknown');
  });

  it.each([
    ['a file cut short', () => countries().subarray(0, 9000)],
    ['an empty file', () => Buffer.alloc(0)],
    ['noise', () => randomBytes(20_000)],
    ['a database without countries', () => readFileSync(join(maxmindFiles, 'GeoIP2-ISP-Test.mmdb'))],
    ['a tree longer than the file', () => countries().subarray(12_000)],
  ])('given %s, keeps the good one, and takes the next that is whole', async (_, content) => {
    await open();
    replaceBy(content());
    expect(await happened('geo_rejected')).toMatchObject({ path, reason: expect.stringMatching(/^its? /) });
    expect(cityOfLondon()).toBe('London');
    replaceBy(countries());
    await happened('geo_reloaded');
    expect(cityOfLondon()).toBe('Unknown');
    expect(events.map((event) => event.kind)).toEqual(['geo_rejected', 'geo_reloaded']);
  });

  it('given a file that is written in place, half now and half later, never loses the good one on the way', async () => {
    await open();
    writeFileSync(path, countries().subarray(0, 9000));
    await happened('geo_rejected');
    expect(cityOfLondon()).toBe('London');
    writeFileSync(path, countries());
    await happened('geo_reloaded');
    expect(cityOfLondon()).toBe('Unknown');
  });

  it('given that the file goes away and comes back, keeps the good one and says so once', async () => {
    await open();
    rmSync(path);
    expect(await happened('geo_rejected')).toMatchObject({ reason: 'it is no longer there' });
    expect(cityOfLondon()).toBe('London');
    replaceBy(countries());
    await happened('geo_reloaded');
    expect(events).toHaveLength(2);
  });

  it('given a listener that fails, goes on all the same', async () => {
    const told: string[] = [];
    await open((event) => {
      told.push(event.kind);
      throw new Error('the log is full');
    });
    replaceBy(Buffer.alloc(10));
    await vi.waitFor(() => expect(told).toEqual(['geo_rejected']));
    replaceBy(countries());
    await vi.waitFor(() => expect(cityOfLondon()).toBe('Unknown'));
  });

  it('once closed, is watched no more, while another goes on at the same pace', async () => {
    const closed = await open();
    closed.close();
    const reloads: GeoEvent[] = [];
    geo = await openGeo({ path, checkEveryMs: 5, onEvent: (event) => reloads.push(event) });
    for (const times of [1, 2]) {
      replaceBy(countries());
      await vi.waitFor(() => expect(reloads).toHaveLength(times));
    }
    expect(events).toEqual([]);
    expect(closed.lookup(address('81.2.69.160')).city).toBe('London');
  });
});
