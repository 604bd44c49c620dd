import { lru } from '../lib/lru.ts';
import { fieldOf, type MmdbValue, openMmdb } from './mmdb.ts';

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

/** Decoded places in the cache: enough for all towns of a large country. About 5 MB when full. */
const maxCachedPlaces = 16_384;
/** Codes that databases use for an unknown country or a whole region. */
const notCountries = new Set(['XX', 'ZZ', 'EU', 'AP']);

/** Opens a database. Throws with the reason if it is not one that contains countries. */
export function readPlaceBook(bytes: Uint8Array): PlaceBook {
  const database = openMmdb(bytes);
  const first = database.first();
  if (first < 0) throw new Error('it holds no record');
  if (!hasCountry(database.read(first))) throw new Error('its records name no country');
  const cache = lru<number, Place>(maxCachedPlaces);

  function find(address: Uint8Array): Place {
    try {
      const record = database.find(address);
      if (record < 0) return unknownPlace;
      const cached = cache.get(record);
      if (cached !== undefined) return cached;
      const place = placeOf(database.read(record));
      cache.set(record, place);
      return place;
    } catch {
      return unknownPlace; // a damaged record: a scan without a place is better than no scan
    }
  }

  return { type: database.type, builtAt: database.builtAt, find };
}

/** Reads both layouts: flat (`country_code, state1, city`; DB-IP Lite on npm), and MaxMind's with names by language. */
function placeOf(record: MmdbValue): Place {
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

/** Other databases of the same file format contain only networks, domains or connection types. */
function hasCountry(record: MmdbValue): boolean {
  return ['country_code', 'country', 'registered_country', 'continent'].some((name) => fieldOf(record, name) !== null);
}

function englishName(named: MmdbValue | undefined): MmdbValue {
  return fieldOf(fieldOf(named, 'names'), 'en');
}

function countryCode(value: MmdbValue): string {
  if (typeof value !== 'string') return unknownPlace.country;
  const code = value.toUpperCase();
  return /^[A-Z]{2}$/.test(code) && !notCountries.has(code) ? code : unknownPlace.country;
}

/** DB-IP has "London (Chiswick)": analytics count cities, not districts. */
function withoutDistrict(city: string): string {
  return city.replace(/\s*\([^)]*\)$/, '');
}

function nameOrUnknown(value: MmdbValue): string {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : 'Unknown';
}
