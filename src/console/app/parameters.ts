import { botOptions, filterColumns, tagMatches } from './analytics/filter-columns.ts';
import { intervals, periods } from './analytics/period.ts';
import { sizes, sortOptions, statuses } from './codes/listing.ts';
import { isPage, longSizes } from './parts/page-numbers.ts';
import { analyticsTabs, codeTabs } from './tabs.ts';

/** Whether a value of a parameter has an effect. */
type Check = (value: string, query: URLSearchParams) => boolean;

/** A wrong value of it is shown on the page: it finds nothing, or the service refuses it. */
const anyText: Check = () => true;
const matching =
  (pattern: RegExp): Check =>
  (value) =>
    pattern.test(value);
const oneOf =
  (options: readonly (readonly [string, ...unknown[]])[]): Check =>
  (value) =>
    options.some(([option]) => option === value);
const sizeOf =
  (allowed: readonly number[]): Check =>
  (value) =>
    allowed.some((size) => String(size) === value);
const inCustomPeriod: Check = (_, query) => query.get('period') === 'custom';

const anyOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, anyText]));
const paging = (allowed: readonly number[]) => ({ page: isPage, limit: sizeOf(allowed) });
const analytics = {
  period: oneOf(periods),
  from: inCustomPeriod,
  to: inCustomPeriod,
  interval: oneOf(intervals),
  bots: oneOf(botOptions),
  ...anyOf(filterColumns),
  ...paging(longSizes),
};

/** Parameters that the pages of the console understand, by their path. */
const known: readonly (readonly [path: RegExp, parameters: Record<string, Check>])[] = [
  [
    /^\/(codes)?$/,
    {
      ...anyOf(['q', 'tag', 'domain']),
      status: oneOf(statuses),
      sort: oneOf(sortOptions),
      bots: oneOf(botOptions),
      ...paging(sizes),
    },
  ],
  [/^\/codes\/new$/, { from: matching(/^qr_\w+$/), kind: matching(/^static$/) }],
  [/^\/codes\/import$/, { from: matching(/^service$/) }],
  [/^\/codes\/qr_\w+$/, { ...analytics, tab: oneOf(codeTabs) }],
  [
    /^\/analytics$/,
    { ...analytics, tab: oneOf(analyticsTabs), ...anyOf(['codes', 'tags', 'domain']), match: oneOf(tagMatches) },
  ],
  [/^\/account\/webhook\/wh_\w+$/, { status: anyText, ...paging(sizes) }],
  [/^\/account\/audit$/, { ...anyOf(['type', 'actor']), ...paging(longSizes) }],
  [/^\/operator$/, anyOf(['q', 'after', 'suspended'])],
  [/^\/operator\/codes$/, anyOf(['q', 'after', 'everywhere'])],
  [/^\/operator\/(hosts|people)$/, anyOf(['q', 'after'])],
  [/^\/operator\/audit$/, anyOf(['after'])],
];

export interface IgnoredParameter {
  name: string;
  /** Of a parameter that the page understands with another value. */
  value?: string;
}

/** The parameters of a URL that its page ignores, for their name or their value. An empty value is as none. */
export function ignoredParameters(path: string, query: URLSearchParams): IgnoredParameter[] {
  const checks = known.find(([pattern]) => pattern.test(path))?.[1] ?? {};
  return [...new Set(query.keys())].flatMap((name): IgnoredParameter[] => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    const value = query.get(name) ?? '';
    if (check === undefined) return [{ name }];
    return value === '' || check(value, query) ? [] : [{ name, value }];
  });
}
