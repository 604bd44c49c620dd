import { rankedCodes } from './codes.ts';
import { type Reading, rowsOf } from './reading.ts';
import { type BotChoice, grouped, parametersOf, type Selection, sourcesOf, union } from './selection.ts';

export interface Totals {
  scans: number;
  visitors: number;
  /** First scans of a code by a visitor. */
  uniqueScans: number;
  /** Scans by bots, whether the selection includes them or not. */
  botScans: number;
}

/** The figures of a summary. */
export interface Figures extends Totals {
  clients: { device: string; browser: string; scans: number }[];
  /** Those with the most scans: ten each, or as many countries and cities as the read asks for; ties in order of name. */
  countries: { country: string; scans: number }[];
  cities: { city: string; country: string; scans: number }[];
  codes: { code: string; scans: number }[];
}

type Figure = number | string;

interface TotalsRow {
  scans: Figure;
  visitors: Figure;
  unique_scans: Figure;
  bot_scans: Figure;
}

interface Row extends TotalsRow {
  kind: 'totals' | 'client' | 'country' | 'city' | 'code';
  name: string;
  detail: string;
}

export const topCount = 10;
/** More than there are countries (ISO 3166-1 has 249), and combinations of devices and browsers. */
export const maxPlaces = 250;

/** How many of each a read lists. */
export interface PlaceCounts {
  countries?: number | undefined;
  cities?: number | undefined;
}

/** SQL condition on `is_bot`, for aggregate functions that end in `If`. */
const isCounted: Record<BotChoice, string> = { include: 'true', exclude: 'NOT is_bot', only: 'is_bot' };

/** Groups by `is_bot` instead of filtering by it, so that one pass also counts what the selection leaves out. */
function totals(reading: Reading, selection: Selection): string {
  const groups = grouped(
    reading,
    { ...selection, bots: 'include' },
    {
      unit: 'hour',
      keys: ['is_bot'],
      figures: 'count() AS n, countIf(is_unique) AS firsts, uniqCombined64State(visitor) AS states',
    },
  );
  const counted = isCounted[selection.bots];
  return `
    SELECT sumIf(n, ${counted}) AS scans, uniqCombined64MergeIf(states, ${counted}) AS visitors,
      sumIf(firsts, ${counted}) AS unique_scans, sumIf(n, is_bot) AS bot_scans
    FROM (${groups})`;
}

/** Columns of rows that have no other figure than the number of scans. */
const scansAlone = '0 AS visitors, 0 AS unique_scans, 0 AS bot_scans';

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
    if(kind = 'client', sum(of_client), sum(of_place)) AS scans, ${scansAlone}
  FROM (${placesAndClients(reading, selection)})
  GROUP BY GROUPING SETS ((country), (country, city), (device, browser))
  HAVING scans > 0
  ORDER BY kind, scans DESC, name, detail
  LIMIT ${maxPlaces} BY kind`;

const ofTotals = (reading: Reading, selection: Selection) =>
  `SELECT 'totals' AS kind, '' AS name, '' AS detail, * FROM (${totals(reading, selection)})`;

const ofCodes = (reading: Reading, selection: Selection) =>
  `SELECT 'code' AS kind, code AS name, '' AS detail, scans, ${scansAlone}
   FROM (${rankedCodes(reading, selection)} LIMIT ${topCount})`;

/** Reads all figures in one statement, so that they are consistent. */
export async function readFigures(
  reading: Reading,
  selection: Selection,
  { countries = topCount, cities = topCount }: PlaceCounts = {},
): Promise<Figures> {
  const parts = 'only' in selection.codes ? [ofTotals, distribution] : [ofTotals, distribution, ofCodes];
  const query = union(parts.map((part) => `SELECT * FROM (${part(reading, selection)})`));
  const rows = await rowsOf<Row>(reading, query, parametersOf(selection));
  const found: Figures = { ...totalsOf(), clients: [], countries: [], cities: [], codes: [] };
  for (const { kind, name, detail, ...row } of rows) {
    const scans = Number(row.scans);
    if (kind === 'totals') Object.assign(found, totalsOf(row));
    else if (kind === 'client') found.clients.push({ device: name, browser: detail, scans });
    else if (kind === 'country') found.countries.push({ country: name, scans });
    else if (kind === 'city') found.cities.push({ city: name, country: detail, scans });
    else found.codes.push({ code: name, scans });
  }
  return { ...found, countries: found.countries.slice(0, countries), cities: found.cities.slice(0, cities) };
}

export async function readTotals(reading: Reading, selection: Selection): Promise<Totals> {
  const [row] = await rowsOf<TotalsRow>(reading, totals(reading, selection), parametersOf(selection));
  return totalsOf(row);
}

const totalsOf = (row?: TotalsRow): Totals => ({
  scans: Number(row?.scans ?? 0),
  visitors: Number(row?.visitors ?? 0),
  uniqueScans: Number(row?.unique_scans ?? 0),
  botScans: Number(row?.bot_scans ?? 0),
});
