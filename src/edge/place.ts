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

/** The places of one database file. */
export interface PlaceBook {
  readonly type: string;
  readonly builtAt: Date;
  find(address: Uint8Array): Place;
}

export const UNKNOWN_PLACE: Place = Object.freeze({ country: 'XX', region: 'Unknown', city: 'Unknown' });

/** Places decoded and kept, the whole of a busy country's towns. About 5 MB when full. */
const PLACES_KEPT = 16_384;
/** Codes that databases use for "somewhere": not of a country. */
const NOT_A_COUNTRY = new Set(['XX', 'ZZ', 'EU', 'AP']);

/** Throws with the reason when the bytes are not a database that knows countries. */
export function readPlaceBook(bytes: Uint8Array): PlaceBook {
  const database = openMmdb(bytes);
  const first = database.first();
  if (first < 0) throw new Error('it holds no record');
  if (!tellsCountry(database.read(first))) throw new Error('its records name no country');
  const kept = lru<number, Place>(PLACES_KEPT);

  function find(address: Uint8Array): Place {
    try {
      const record = database.find(address);
      if (record < 0) return UNKNOWN_PLACE;
      const known = kept.get(record);
      if (known !== undefined) return known;
      const place = placeOf(database.read(record));
      kept.set(record, place);
      return place;
    } catch {
      return UNKNOWN_PLACE; // damaged at that record: a scan without a place is better than none
    }
  }

  return { type: database.type, builtAt: database.builtAt, find };
}

/** Either layout: flat (`country_code, state1, city`, DB-IP Lite as npm has it) or MaxMind's, names by language. */
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

/** The layout is known by it: other files of the same format tell of networks, domains or connection types only. */
function tellsCountry(record: MmdbValue): boolean {
  return ['country_code', 'country', 'registered_country', 'continent'].some((name) => fieldOf(record, name) !== null);
}

function englishName(named: MmdbValue | undefined): MmdbValue {
  return fieldOf(fieldOf(named, 'names'), 'en');
}

function countryCode(value: MmdbValue): string {
  if (typeof value !== 'string') return UNKNOWN_PLACE.country;
  const code = value.toUpperCase();
  return /^[A-Z]{2}$/.test(code) && !NOT_A_COUNTRY.has(code) ? code : UNKNOWN_PLACE.country;
}

/** DB-IP says "London (Chiswick)": places are told to the city, and one city must not fall apart into many. */
function withoutDistrict(city: string): string {
  return city.replace(/\s*\([^)]*\)$/, '');
}

function nameOrUnknown(value: MmdbValue): string {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : 'Unknown';
}
