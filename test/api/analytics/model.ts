import type { StoredScan } from '../../support/warehouse.ts';

/** Analytics of the interface specification, computed from a plain list of scans. */

export interface Query {
  start: number;
  end: number;
  bots: 'include' | 'exclude' | 'only';
  filters: Partial<Record<'country' | 'city' | 'device' | 'browser', string>>;
  timezone: string;
  /** Of a period of plain dates: how many it has. */
  days: number | undefined;
}

const day = 86_400_000;
const quarter = 900_000;

export interface Local {
  /** `YYYY-MM-DD` */
  date: string;
  hour: number;
  /** `+05:30`, `Z` in UTC. */
  offset: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const locals = new Map<string, Local>();

/** What calendar and clocks show in a zone, by the quarter of an hour. */
export function local(timezone: string, ms: number): Local {
  const step = Math.floor(ms / quarter) * quarter;
  const key = `${timezone} ${step}`;
  const known = locals.get(key);
  if (known !== undefined) return known;
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('sv-SE', {
      timeZone: timezone,
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
  formats.set(timezone, format);
  const parts = Object.fromEntries(format.formatToParts(step).map(({ type, value }) => [type, value]));
  const offset = (parts['timeZoneName'] ?? '').replace('GMT', '').replace('−', '-') || '+00:00';
  const found = {
    date: `${parts['year']}-${parts['month']}-${parts['day']}`,
    hour: Number(parts['hour']),
    offset: timezone === 'UTC' ? 'Z' : offset,
  };
  locals.set(key, found);
  return found;
}

const addDays = (date: string, days: number) => iso(Date.parse(date) + days * day).slice(0, 10);

/** The first millisecond of a date. */
export function startOfDate(timezone: string, date: string): number {
  let at = Date.parse(date) - 30 * 3_600_000;
  while (local(timezone, at).date < date) at += quarter;
  return at;
}

/** From the first to the last millisecond of these dates. */
export const wholeDates = (timezone: string, first: string, last: string) => ({
  start: startOfDate(timezone, first),
  end: startOfDate(timezone, addDays(last, 1)) - 1,
  days: (Date.parse(last) - Date.parse(first)) / day + 1,
});

export const selected = (scans: StoredScan[], codes: string[], { start, end, bots, filters }: Query): StoredScan[] =>
  scans.filter(
    (scan) =>
      codes.includes(scan.code) &&
      scan.occurred_at.getTime() >= start &&
      scan.occurred_at.getTime() <= end &&
      (bots === 'include' || scan.is_bot === (bots === 'only')) &&
      Object.entries(filters).every(([column, value]) => scan[column as keyof Query['filters']] === value),
  );

/** The period of equal length that ends one millisecond before; of plain dates, of as many. */
export function before(query: Query): Query {
  const { start, end, timezone, days } = query;
  const earlier =
    days === undefined ? start - (end - start + 1) : startOfDate(timezone, addDays(local(timezone, start).date, -days));
  return { ...query, start: earlier, end: start - 1 };
}

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Counts equal keys, highest count first. */
function ranked(keys: string[][]): { key: string[]; scans: number }[] {
  const counts = new Map<string, { key: string[]; scans: number }>();
  for (const key of keys) {
    const name = JSON.stringify(key);
    const count = counts.get(name) ?? { key, scans: 0 };
    count.scans++;
    counts.set(name, count);
  }
  const ties = (a: string[], b: string[]) =>
    a.map((part, i) => byBytes(part, b[i] as string)).find((d) => d !== 0) ?? 0;
  return [...counts.values()].sort((a, b) => b.scans - a.scans || ties(a.key, b.key));
}

const counts = (scans: StoredScan[]) => ({
  total_scans: scans.length,
  unique_visitors: new Set(scans.map(({ visitor }) => visitor)).size,
});

const numberOf = <T extends string>(scans: StoredScan[], field: 'device' | 'browser', names: T[]) =>
  Object.fromEntries(names.map((name) => [name, scans.filter((scan) => scan[field] === name).length]));

export const iso = (ms: number) => new Date(ms).toISOString();

export const figures = (scans: StoredScan[], codes: string[], query: Query) => {
  const counted = selected(scans, codes, query);
  // The last millisecond of a day is its end.
  const days = query.days ?? Math.max(1, Math.round((query.end - query.start) / 1000) / 86_400);
  return {
    ...counts(counted),
    avg_daily_scans: Math.round((counted.length * 100) / days) / 100,
    unique_scans: counted.filter(({ is_unique }) => is_unique).length,
    bot_scans: selected(scans, codes, { ...query, bots: 'only' }).length,
  };
};

/** What `compare=previous` adds. */
export const previous = (scans: StoredScan[], codes: string[], query: Query) => {
  const earlier = before(query);
  return {
    period: { start: iso(earlier.start), end: iso(earlier.end) },
    summary: figures(scans, codes, earlier),
  };
};

/** Every code with scans, or every given code, with its figures. */
export function byCode(scans: StoredScan[], codes: string[], query: Query, given: boolean) {
  const of = (code: string, period: Query) => {
    const counted = selected(scans, [code], period);
    return { ...counts(counted), unique_scans: counted.filter(({ is_unique }) => is_unique).length };
  };
  return codes
    .map((qr_id) => ({ qr_id, ...of(qr_id, query), previous: of(qr_id, before(query)) }))
    .filter(({ total_scans }) => given || total_scans > 0)
    .sort((a, b) => b.total_scans - a.total_scans || (b.total_scans > 0 ? byBytes(a.qr_id, b.qr_id) : 0));
}

const weekdayOf = (date: string) => new Date(date).getUTCDay() || 7;

export const heatMap = (scans: StoredScan[], timezone: string) =>
  Array.from({ length: 168 }, (_, i) => {
    const [weekday, hour] = [Math.floor(i / 24) + 1, i % 24];
    const inHour = ({ occurred_at }: StoredScan) => {
      const shown = local(timezone, occurred_at.getTime());
      return weekdayOf(shown.date) === weekday && shown.hour === hour;
    };
    return { weekday, hour, total_scans: scans.filter(inHour).length };
  });

export const distribution = (scans: StoredScan[]) => ({
  top_countries: ranked(scans.map(({ country }) => [country]))
    .slice(0, 10)
    .map(({ key: [country], scans: n }) => ({ country, scans: n })),
  top_cities: ranked(scans.map(({ city, country }) => [city, country]))
    .slice(0, 10)
    .map(({ key: [city, country], scans: n }) => ({ city, country, scans: n })),
  devices: numberOf(scans, 'device', ['ios', 'android', 'desktop']),
  browsers: numberOf(scans, 'browser', ['safari', 'chrome', 'samsung_browser', 'other']),
});

export const topCodes = (scans: StoredScan[]) =>
  ranked(scans.map(({ code }) => [code])).map(({ key: [qr_id], scans: n }) => ({ qr_id, scans: n }));

/** Scan records, oldest first. */
export const records = (scans: StoredScan[]) =>
  scans
    .toSorted((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime() || a.position - b.position)
    .map(({ code, id, occurred_at, country, region, city, device, browser, is_unique, is_bot }) => ({
      qr_id: code,
      id,
      timestamp: occurred_at.toISOString(),
      country,
      region,
      city,
      device,
      browser,
      is_unique,
      is_bot,
      rule: null,
      variant: null,
    }));

export type Interval = 'hour' | 'day' | 'week' | 'month';

const bucketOf: Record<Interval, (time: Local) => string> = {
  hour: ({ date, hour, offset }) => `${date}T${String(hour).padStart(2, '0')}:00:00${offset}`,
  day: ({ date }) => date,
  week: ({ date }) => addDays(date, 1 - weekdayOf(date)),
  month: ({ date }) => date.slice(0, 7),
};

/** Steps through the period by the quarter of an hour, so that no bucket is missed. */
export function series(
  scans: StoredScan[],
  { start, end, timezone }: Pick<Query, 'start' | 'end' | 'timezone'>,
  interval: Interval,
) {
  const nameOf = (ms: number) => bucketOf[interval](local(timezone, ms));
  const inBucket = Map.groupBy(scans, ({ occurred_at }) => nameOf(occurred_at.getTime()));
  const names = new Set<string>();
  for (let at = start; at < end; at += quarter) names.add(nameOf(at));
  names.add(nameOf(end));
  return [...names].map((date) => ({ date, ...counts(inBucket.get(date) ?? []) }));
}

export const byRevision = (scans: StoredScan[], revisions: number) =>
  Array.from({ length: revisions }, (_, i) => counts(scans.filter(({ revision }) => revision === i + 1)));
