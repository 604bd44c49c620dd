import { type Reading, rowsOf } from './reading.ts';
import { grouped, parametersOf, type Selection } from './selection.ts';

/** What a summary tells of its scans. */
export interface Figures {
  visitors: number;
  clients: { device: string; browser: string; scans: number }[];
  /** The ten with the most scans of each, ties by name. */
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

const most = 10;

const visitors = (reading: Reading, selection: Selection) => `
  SELECT 'visitors' AS kind, '' AS name, '' AS detail, uniqCombined64Merge(visitors) AS figure
  FROM (${grouped(reading, selection, { unit: 'hour', figures: 'uniqCombined64State(visitor) AS visitors' })})`;

const clients = (reading: Reading, selection: Selection) => `
  SELECT 'client' AS kind, toString(device) AS name, toString(browser) AS detail, sum(scans) AS figure
  FROM (${grouped(reading, selection, { unit: 'day', keys: ['device', 'browser'], figures: 'count() AS scans' })})
  GROUP BY device, browser`;

/** Countries and cities from one read. Grouping sets stand around it: inside, no projection would be used. */
const places = (reading: Reading, selection: Selection) => `
  SELECT if(grouping(city) = 1, 'country', 'city') AS kind, if(kind = 'city', toString(city), toString(country)) AS name,
    toString(country) AS detail, sum(scans) AS figure
  FROM (${grouped(reading, selection, { unit: 'day', keys: ['country', 'city'], figures: 'count() AS scans' })})
  GROUP BY GROUPING SETS ((country), (country, city))
  ORDER BY kind, figure DESC, name, detail
  LIMIT ${most} BY kind`;

const codes = (reading: Reading, selection: Selection) => `
  SELECT 'code' AS kind, code AS name, '' AS detail, sum(scans) AS figure
  FROM (${grouped(reading, selection, { unit: 'hour', keys: ['code'], figures: 'count() AS scans' })})
  GROUP BY code
  ORDER BY figure DESC, code
  LIMIT ${most}`;

/** All of it in one statement, so that its figures are of one moment. */
export async function readFigures(reading: Reading, selection: Selection): Promise<Figures> {
  const parts = 'only' in selection.codes ? [visitors, clients, places] : [visitors, clients, places, codes];
  const query = parts.map((part) => `SELECT * FROM (${part(reading, selection)})`).join('\nUNION ALL\n');
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
  return found;
}
