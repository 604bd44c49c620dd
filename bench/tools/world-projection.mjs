/** The countries of Natural Earth, which is in the public domain, and how the map of the console projects them. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.argv[2] ? pathToFileURL(process.argv[2]) : import.meta.url);
const { feature } = require('topojson-client');
const { numericToAlpha2 } = require('i18n-iso-countries');
const { geoEqualEarth, geoPath } = await import(pathToFileURL(require.resolve('d3-geo')).href);

const antarctica = 'AQ';
/** Countries without an ISO number in the data. */
const codeByName = new Map([['Kosovo', 'XK']]);

export const codeOf = ({ id, properties }) => numericToAlpha2(id) ?? codeByName.get(properties.name);

/** Coarse outlines, and fine ones, which also have the small countries that the others leave out. */
export const [coarse, fine] = ['countries-110m.json', 'countries-50m.json'].map((file) => {
  const atlas = require(`world-atlas/${file}`);
  return feature(atlas, atlas.objects.countries).features.filter((country) => codeOf(country) !== antarctica);
});

/** Ten times as wide as it is drawn: a map of one country is enlarged. */
export const width = 9600;
export const projection = geoEqualEarth().fitWidth(width, { type: 'FeatureCollection', features: coarse });
export const path = geoPath(projection);
const [[, top], [, bottom]] = path.bounds({ type: 'FeatureCollection', features: coarse });
const [shiftX, shiftY] = projection.translate();
projection.translate([shiftX, shiftY - top]);
export const height = Math.ceil(bottom - top);
