/**
 * Writes src/console/app/analytics/world-outline.json: the countries of the map in analytics. Only needed to change the
 * projection or the borders, so its packages are no dependencies:
 *
 *   npm install --no-save world-atlas@2.0.2 topojson-client@3.1.0 d3-geo@3.1.1 i18n-iso-countries@7.14.0 \
 *     && node bench/tools/world-outline.mjs
 */
import { writeFile } from 'node:fs/promises';
import { coarse, codeOf, fine, height, path, width } from './world-projection.mjs';

/** The rings of path data, as points. */
const ringsOf = (data) =>
  data
    .split('M')
    .filter((ring) => ring !== '')
    .map((ring) =>
      ring
        .replace('Z', '')
        .split('L')
        .map((point) => point.split(',').map(Math.round)),
    );

/** Path data of a ring, each point relative to the one before; empty if it is too small to be seen. */
function shortened([first, ...others]) {
  let [x, y] = first;
  let text = `M${x} ${y}`;
  let drawn = 0;
  for (const [toX, toY] of others) {
    if (toX === x && toY === y) continue;
    text += `${drawn === 0 ? 'l' : ' '}${toX - x} ${toY - y}`;
    [x, y] = [toX, toY];
    drawn++;
  }
  return drawn < 2 ? '' : `${text.replaceAll(' -', '-')}z`;
}

function boxOf(ring) {
  const [xs, ys] = [ring.map(([x]) => x), ring.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return [x, y, Math.max(...xs) - x, Math.max(...ys) - y];
}

const areaOf = ([, , boxWidth, boxHeight]) => boxWidth * boxHeight;

/** The box of the largest ring. */
const largestOf = (rings) => rings.map(boxOf).toSorted((a, b) => areaOf(b) - areaOf(a))[0];

const outlines = {};
/** Around the largest part of each country: with French Guiana, the map of France would be one of the Atlantic. */
const boxes = {};
for (const country of coarse) {
  const code = codeOf(country);
  const rings = ringsOf(path(country) ?? '');
  const data = rings.map(shortened).join('');
  if (code === undefined || data === '') continue;
  outlines[code] = data;
  boxes[code] = largestOf(rings);
}
/** Countries that are too small for an outline are dots, on their largest part: the middle of Kiribati would be in the Atlantic. */
const dots = {};
for (const country of fine) {
  const code = codeOf(country);
  if (code === undefined || outlines[code] !== undefined) continue;
  const [x, y, boxWidth, boxHeight] = largestOf(ringsOf(path(country)));
  dots[code] = [Math.round(x + boxWidth / 2), Math.round(y + boxHeight / 2)];
}

const sorted = (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
const map = { width, height, outlines: sorted(outlines), boxes: sorted(boxes), dots: sorted(dots) };
await writeFile(
  new URL('../../src/console/app/analytics/world-outline.json', import.meta.url),
  `${JSON.stringify(map, null, 2).replace(/\[\n\s+([^\]]+?)\n\s+\]/g, (_, values) => `[${values.replace(/\n\s+/g, ' ')}]`)}\n`,
);
process.stdout.write(`${Object.keys(outlines).length} outlines, ${Object.keys(dots).length} dots\n`);
