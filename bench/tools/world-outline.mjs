/**
 * Writes src/console/app/analytics/world-outline.json: the countries of the map in analytics, from Natural Earth, which is in
 * the public domain. Only needed to change the projection or the borders, so its packages are no dependencies:
 *
 *   npm install --no-save world-atlas@2.0.2 topojson-client@3.1.0 d3-geo@3.1.1 i18n-iso-countries@7.14.0 \
 *     && node bench/tools/world-outline.mjs
 */
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.argv[2] ? pathToFileURL(process.argv[2]) : import.meta.url);
const { feature } = require('topojson-client');
const { numericToAlpha2 } = require('i18n-iso-countries');
const { geoEqualEarth, geoPath } = await import(pathToFileURL(require.resolve('d3-geo')).href);

const width = 960;
const antarctica = 'AQ';
/** Countries without an ISO number in the data. */
const codeByName = new Map([['Kosovo', 'XK']]);

const codeOf = ({ id, properties }) => numericToAlpha2(id) ?? codeByName.get(properties.name);

/** Coarse outlines, and fine ones, which also have the small countries that the others leave out. */
const [coarse, fine] = ['countries-110m.json', 'countries-50m.json'].map((file) => {
  const atlas = require(`world-atlas/${file}`);
  return feature(atlas, atlas.objects.countries).features.filter((country) => codeOf(country) !== antarctica);
});

const projection = geoEqualEarth().fitWidth(width, { type: 'FeatureCollection', features: coarse });
const path = geoPath(projection);
const [[, top], [, bottom]] = path.bounds({ type: 'FeatureCollection', features: coarse });
const [shiftX, shiftY] = projection.translate();
projection.translate([shiftX, shiftY - top]);

/** Path data in whole units, each point relative to the one before. */
function shortened(data) {
  return data
    .split('M')
    .filter((ring) => ring !== '')
    .map((ring) => {
      const points = ring
        .replace('Z', '')
        .split('L')
        .map((point) => point.split(',').map(Math.round));
      let [x, y] = points[0];
      let text = `M${x} ${y}`;
      let drawn = 0;
      for (const [toX, toY] of points.slice(1)) {
        if (toX === x && toY === y) continue;
        text += `${drawn === 0 ? 'l' : ' '}${toX - x} ${toY - y}`;
        [x, y] = [toX, toY];
        drawn++;
      }
      return drawn < 2 ? '' : `${text.replaceAll(' -', '-')}z`;
    })
    .join('');
}

const outlines = {};
for (const country of coarse) {
  const code = codeOf(country);
  const data = shortened(path(country) ?? '');
  if (code !== undefined && data !== '') outlines[code] = data;
}
/** Countries that are too small for an outline are dots. */
const dots = {};
for (const country of fine) {
  const code = codeOf(country);
  if (code !== undefined && outlines[code] === undefined) dots[code] = path.centroid(country).map(Math.round);
}

const sorted = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
const map = { width, height: Math.ceil(bottom - top), outlines: sorted(outlines), dots: sorted(dots) };
await writeFile(
  new URL('../../src/console/app/analytics/world-outline.json', import.meta.url),
  `${JSON.stringify(map, null, 2).replace(/\[\n\s+(\d+),\n\s+(\d+)\n\s+\]/g, '[$1, $2]')}\n`,
);
process.stdout.write(`${Object.keys(outlines).length} outlines, ${Object.keys(dots).length} dots\n`);
