import { filterColumns } from './analytics/filter-columns.ts';

const paging = ['page', 'limit'];
const analytics = ['period', 'from', 'to', 'interval', 'bots', 'tab', ...filterColumns, ...paging];

/** Parameters that the pages of the console understand, by their path. */
const known: readonly (readonly [path: RegExp, parameters: readonly string[]])[] = [
  [/^\/(codes)?$/, ['q', 'status', 'tag', 'domain', 'sort', 'bots', ...paging]],
  [/^\/codes\/new$/, ['from', 'kind']],
  [/^\/codes\/import$/, ['from']],
  [/^\/codes\/qr_\w+$/, analytics],
  [/^\/analytics$/, [...analytics, 'codes', 'tags', 'match', 'domain']],
  [/^\/account\/webhook\/wh_\w+$/, ['status', ...paging]],
  [/^\/account\/audit$/, ['type', 'actor', ...paging]],
  [/^\/operator$/, ['q', 'after', 'suspended']],
  [/^\/operator\/codes$/, ['q', 'after', 'everywhere']],
  [/^\/operator\/(hosts|people)$/, ['q', 'after']],
  [/^\/operator\/audit$/, ['after']],
];

/** The parameters of a URL that its page ignores. */
export function unknownParameters(path: string, query: URLSearchParams): string[] {
  const understood = known.find(([pattern]) => pattern.test(path))?.[1] ?? [];
  return [...new Set(query.keys())].filter((name) => !understood.includes(name));
}
