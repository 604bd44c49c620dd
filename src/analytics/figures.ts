import { type Reading, rowsOf } from './reading.ts';
import { grouped, parametersOf, type Selection, sourcesOf, union } from './selection.ts';

/** The figures of a summary. */
export interface Figures {
  visitors: number;
  clients: { device: string; browser: string; scans: number }[];
  /** Countries, cities and codes: the ten with the most scans each, ties in order of name. */
  countries: { country: string; scans: number }[];
  cities: { city: string; country: string; scans: number }[];
  codes: { code: string; scans: number }[];
}

interface Row {
  kind: 'visitors' | 'client' | 'country' | 'city' | 'code';
  name: string;
  detail: string;
  figure: number | string;
}

const topCount = 10;
/** More than all combinations of devices and browsers. */
const maxClients = 100;

const visitors = (reading: Reading, selection: Selection) => `
  SELECT 'visitors' AS kind, '' AS name, '' AS detail, uniqCombined64Merge(visitors) AS figure
  FROM (${grouped(reading, selection, { unit: 'hour', figures: 'uniqCombined64State(visitor) AS visitors' })})`;

/**
 * Counts by place and by client. Whole days are read from one projection for each, and parts of days from the rows, once
 * for both; `of_place` and `of_client` say for which a row counts.
 */
function placesAndClients(reading: Reading, selection: Selection): string {
  const { whole, partial } = sourcesOf(reading, selection, 'day');
  return union([
    whole &&
      `SELECT country, city, '' AS device, '' AS browser, count() AS of_place, 0 AS of_client
       ${whole} GROUP BY country, city`,
    whole &&
      `SELECT '' AS country, '' AS city, device, browser, 0 AS of_place, count() AS of_client
       ${whole} GROUP BY device, browser`,
    partial &&
      `SELECT country, city, device, browser, count() AS of_place, count() AS of_client
       ${partial} GROUP BY country, city, device, browser`,
  ]);
}

/** GROUPING SETS are outside the subquery: inside, ClickHouse would not use the projections. */
const distribution = (reading: Reading, selection: Selection) => `
  SELECT multiIf(grouping(city) = 0, 'city', grouping(country) = 0, 'country', 'client') AS kind,
    toString(multiIf(kind = 'city', city, kind = 'country', country, device)) AS name,
    toString(if(kind = 'client', browser, country)) AS detail,
    if(kind = 'client', sum(of_client), sum(of_place)) AS figure
  FROM (${placesAndClients(reading, selection)})
  GROUP BY GROUPING SETS ((country), (country, city), (device, browser))
  HAVING figure > 0
  ORDER BY kind, figure DESC, name, detail
  LIMIT ${maxClients} BY kind`;

const codes = (reading: Reading, selection: Selection) => `
  SELECT 'code' AS kind, code AS name, '' AS detail, sum(scans) AS figure
  FROM (${grouped(reading, selection, { unit: 'hour', keys: ['code'], figures: 'count() AS scans' })})
  GROUP BY code
  ORDER BY figure DESC, code
  LIMIT ${topCount}`;

/** Reads all figures in one statement, so that they are consistent. */
export async function readFigures(reading: Reading, selection: Selection): Promise<Figures> {
  const parts = 'only' in selection.codes ? [visitors, distribution] : [visitors, distribution, codes];
  const query = union(parts.map((part) => `SELECT * FROM (${part(reading, selection)})`));
  const rows = await rowsOf<Row>(reading, query, parametersOf(selection));
  const found: Figures = { visitors: 0, clients: [], countries: [], cities: [], codes: [] };
  for (const { kind, name, detail, figure } of rows) {
    const scans = Number(figure);
    if (kind === 'visitors') found.visitors = scans;
    else if (kind === 'client') found.clients.push({ device: name, browser: detail, scans });
    else if (kind === 'country') found.countries.push({ country: name, scans });
    else if (kind === 'city') found.cities.push({ city: name, country: detail, scans });
    else found.codes.push({ code: name, scans });
  }
  return { ...found, countries: found.countries.slice(0, topCount), cities: found.cities.slice(0, topCount) };
}
