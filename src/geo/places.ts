import { Reader, type Response } from 'maxmind';
import { messageOf } from '../lib/errors.ts';
import { formatAddress, isIPv4 } from '../lib/ip-address.ts';
import { lru } from '../lib/lru.ts';

/** Where a scan came from. */
export interface Place {
  /** ISO 3166-1 alpha-2, `XX` when unknown. */
  readonly country: string;
  /** English name, `Unknown` when unknown. */
  readonly region: string;
  /** English name, `Unknown` when unknown. */
  readonly city: string;
}

/** One database file, opened for lookups. */
export interface PlaceBook {
  readonly type: string;
  readonly builtAt: Date;
  find(address: Uint8Array): Place;
}

const unknownPlace: Place = Object.freeze({ country: 'XX', region: 'Unknown', city: 'Unknown' });

/** Codes that databases use for an unknown country or a whole region. */
const notCountries = new Set(['XX', 'ZZ', 'EU', 'AP']);
/** Decoded records, and the values that records share. */
const maxCachedValues = 16_384;

/** Opens a database. Throws with the reason if it is not one that contains countries. */
export function readPlaceBook(bytes: Uint8Array): PlaceBook {
  const reader = openReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { ipVersion, databaseType, buildEpoch } = reader.metadata;
  if (Number.isNaN(buildEpoch.getTime())) throw new Error('its metadata has a build_epoch that is not a time');
  const first = firstRecord(reader);
  if (first === null) throw new Error('it holds no record');
  if (!hasCountry(first)) throw new Error('its records name no country');
  const ipv4 = new NetworkCache(reader, { at: 12, bytes: 3 });
  const ipv6 = new NetworkCache(reader, { at: 0, bytes: 6 });

  function find(address: Uint8Array): Place {
    if (isIPv4(address)) return ipv4.find(address);
    // The bits of an IPv6 address would lead to the record of an unrelated IPv4 address.
    return ipVersion === 4 ? unknownPlace : ipv6.find(address);
  }

  return { type: String(databaseType), builtAt: buildEpoch, find };
}

/**
 * The places of the /24 networks of IPv4, or of the /48 networks of IPv6, that were looked up last. The reader takes an
 * address as text, which costs more than the lookup. Records of smaller networks, which 3 % of IPv4 addresses have in DB-IP
 * Lite, are read each time.
 */
class NetworkCache {
  readonly #reader: Reader<Response>;
  readonly #part: { at: number; bytes: number };
  /** At most 32,768 places: see `lru`. */
  readonly #places = lru<number, Place>(16_384);

  constructor(reader: Reader<Response>, part: { at: number; bytes: number }) {
    this.#reader = reader;
    this.#part = part;
  }

  find(address: Uint8Array): Place {
    const { at, bytes } = this.#part;
    let network = 0;
    for (let i = at; i < at + bytes; i++) network = network * 256 + (address[i] ?? 0);
    const cached = this.#places.get(network);
    if (cached !== undefined) return cached;
    try {
      const [record, prefixLength] = this.#reader.getWithPrefixLength(formatAddress(address));
      const place = record === null ? unknownPlace : placeOf(record);
      if (prefixLength <= bytes * 8) this.#places.set(network, place);
      return place;
    } catch {
      return unknownPlace; // a damaged record: a scan without a place is better than no scan
    }
  }
}

const metadataMarker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const maxMetadataBytes = 128 * 1024;

/**
 * Checks what the reader does not: it would search a file without its end from the end to the beginning, and would open one
 * without its beginning.
 */
function openReader(file: Buffer): Reader<Response> {
  const tail = Math.max(0, file.length - maxMetadataBytes);
  const marker = file.subarray(tail).lastIndexOf(metadataMarker);
  if (marker < 0) throw new Error('it has no MaxMind DB metadata at its end (truncated, or another format)');
  let reader: Reader<Response>;
  try {
    reader = new Reader<Response>(file, { cache: lru(maxCachedValues) });
  } catch (error) {
    throw new Error(`it cannot be read (${messageOf(error)})`);
  }
  const { binaryFormatMajorVersion, ipVersion, nodeCount, searchTreeSize } = reader.metadata;
  if (binaryFormatMajorVersion !== 2) throw new Error('its MaxMind DB format is not version 2');
  if (ipVersion !== 4 && ipVersion !== 6) throw new Error('its metadata names no IP version');
  if (!(nodeCount > 0) || searchTreeSize > tail + marker) throw new Error('it is shorter than its metadata says');
  return reader;
}

/** More networks without a record than can come before the first record of a tree. */
const maxEmptyNetworks = 256;

function firstRecord(reader: Reader<Response>): Response | null {
  const bits = reader.metadata.ipVersion === 4 ? 32 : 128;
  let address = 0n;
  for (let i = 0; i < maxEmptyNetworks && address < 1n << BigInt(bits); i++) {
    const [record, prefixLength] = read(reader, textOf(address, bits));
    if (record !== null) return record;
    address += 1n << BigInt(bits - prefixLength);
  }
  return null;
}

function read(reader: Reader<Response>, address: string): [Response | null, number] {
  try {
    return reader.getWithPrefixLength(address);
  } catch (error) {
    throw new Error(`one of its records cannot be read (${messageOf(error)})`);
  }
}

/** An address of 32 or 128 bits: `1.0.0.0`, or all eight groups of an IPv6 address. */
function textOf(address: bigint, bits: number): string {
  const hex = address.toString(16).padStart(bits / 4, '0');
  const groups = hex.match(bits === 32 ? /../g : /..../g) ?? [];
  return bits === 32 ? groups.map((group) => Number.parseInt(group, 16)).join('.') : groups.join(':');
}

/** Reads both layouts: flat (`country_code, state1, city`; DB-IP Lite on npm), and MaxMind's with names by language. */
function placeOf(record: unknown): Place {
  const country = fieldOf(record, 'country_code') ?? fieldOf(fieldOf(record, 'country'), 'iso_code');
  const subdivisions = fieldOf(record, 'subdivisions');
  const region = fieldOf(record, 'state1') ?? englishName(Array.isArray(subdivisions) ? subdivisions[0] : null);
  const city = fieldOf(record, 'city');
  return {
    country: countryCode(country),
    region: nameOrUnknown(region),
    city: nameOrUnknown(typeof city === 'string' ? withoutDistrict(city) : englishName(city)),
  };
}

/** The field of a map; null if there is none, or the value is not a map. */
function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.hasOwn(value, name) ? ((value as Record<string, unknown>)[name] ?? null) : null;
}

/** Other databases of the same file format contain only networks, domains or connection types. */
function hasCountry(record: unknown): boolean {
  return ['country_code', 'country', 'registered_country', 'continent'].some((name) => fieldOf(record, name) !== null);
}

function englishName(named: unknown): unknown {
  return fieldOf(fieldOf(named, 'names'), 'en');
}

function countryCode(value: unknown): string {
  if (typeof value !== 'string') return unknownPlace.country;
  const code = value.toUpperCase();
  return /^[A-Z]{2}$/.test(code) && !notCountries.has(code) ? code : unknownPlace.country;
}

/** DB-IP has "London (Chiswick)": analytics count cities, not districts. */
function withoutDistrict(city: string): string {
  return city.replace(/\s*\([^)]*\)$/, '');
}

/** Longer than the name of any place; one in a damaged file can be as long as the file. */
const maxNameLength = 255;

function nameOrUnknown(value: unknown): string {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, maxNameLength) : 'Unknown';
}
