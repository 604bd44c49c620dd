import { country, displayName } from '../format.ts';
import { urlWith, useRoute } from '../router.ts';
import { bootstrap } from '../welcome.ts';
import { type BotChoice, botOptions, type FilterColumn, filterColumns, type TagMatch } from './filter-columns.ts';
import { type Period, type PeriodName, periodOf, periods } from './period.ts';

/** Tags in the URL of a page, which may have any character. */
export const tagsParameter = (tags: string[]) => tags.map(encodeURIComponent).join(',');

/** Without its encoding; as it is, if a URL that was typed by hand has a wrong one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What a page of analytics shows. All of it is in the URL of the page. */
export interface Filters {
  name: PeriodName;
  period: Period;
  /** The time zone of the account. */
  timezone: string;
  bots: BotChoice;
  values: Partial<Record<FilterColumn, string>>;
  /** Ids of the selected codes; none for all codes. */
  codes: string[];
  /** Tags that the codes have, any or all of them. */
  tags: string[];
  match: TagMatch;
  /** The custom domain of the codes; empty for all. */
  domain: string;
  /** The same as parameters of the API. */
  query: Record<string, string | string[] | undefined>;
}

export function filtersOf(query: URLSearchParams): Filters {
  const name = periods.find(([option]) => option === query.get('period'))?.[0] ?? '30d';
  const { timezone } = bootstrap.account;
  const period = periodOf(name, query.get('from'), query.get('to'), timezone);
  const bots = botOptions.find(([option]) => option === query.get('bots'))?.[0] ?? 'exclude';
  const values = Object.fromEntries(
    filterColumns.flatMap((column) => (query.get(column) ? [[column, query.get(column)]] : [])),
  );
  const codes = (query.get('codes') ?? '').split(',').filter((id) => id !== '');
  const tags = (query.get('tags') ?? '').split(',').filter(Boolean).map(decoded);
  const match = query.get('match') === 'all' ? 'all' : 'any';
  const domain = query.get('domain') ?? '';
  return {
    name,
    period,
    timezone,
    bots,
    values,
    codes,
    tags,
    match,
    domain,
    query: {
      ...period,
      timezone,
      bots,
      ...values,
      qr_id: codes.length === 0 ? undefined : codes,
      tag: tags.length === 0 ? undefined : tags,
      tag_match: match === 'all' ? match : undefined,
      domain: domain || undefined,
    },
  };
}

export const useFilters = (): Filters => filtersOf(useRoute().query);

/** The URL of this page with a filter set; a city without its country would be ambiguous. */
export const filterUrl = (values: Partial<Record<FilterColumn, string>>) => urlWith({ ...values, page: undefined });

/** Parameters of the page that other pages of analytics understand too. */
const carried = ['period', 'from', 'to', 'bots', ...filterColumns];

/** A page of analytics with the period and filters of this one. */
export function withFilters(url: string, query: URLSearchParams): string {
  const kept = new URLSearchParams([...query].filter(([name]) => carried.includes(name)));
  return kept.size === 0 ? url : `${url}?${kept}`;
}

const columnNames: Record<FilterColumn, string> = {
  country: 'Country',
  city: 'City',
  device: 'Device',
  browser: 'Browser',
};

export function filterLabel(column: FilterColumn, value: string): string {
  const text = column === 'country' ? country(value) : column === 'city' ? value : displayName(value);
  return `${columnNames[column]}: ${text}`;
}
