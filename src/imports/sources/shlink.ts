import type { GivenRule } from '../../../events/targeting/rule-ids.ts';
import type { When } from '../../../events/targeting/targeting-schema.ts';
import { devices } from '../../../events/targeting/targeting-words.ts';
import { type ApiClient, objectOf, urlBelow } from '../client.ts';
import {
  countOf,
  deviceRules,
  type Item,
  identityOf,
  isItem,
  type LinkPage,
  listOf,
  type SourceLink,
  textOf,
} from '../link.ts';
import { readTime } from '../times.ts';
import type { Source } from './source.ts';

/** `GET /rest/v3/short-urls` of https://shlink.io, and the rules of links that have some. */
export const shlink: Source = {
  readItem: (item) => [linkOf(item, item['redirectRules'])],
  itemsOf: (response) => (isItem(response['shortUrls']) ? listOf(response['shortUrls']['data']) : []),
  pages,
};

const pageSize = 100;

function linkOf(item: Item, ruleList: unknown): SourceLink {
  const meta = isItem(item['meta']) ? item['meta'] : {};
  const visits = isItem(item['visitsSummary']) ? item['visitsSummary']['total'] : item['visitsCount'];
  const { rules, unsupported } = readRules(ruleList);
  return {
    ...identityOf({ shortUrl: item['shortUrl'], host: item['domain'], shortCode: item['shortCode'] }),
    destination: textOf(item['longUrl']) ?? '',
    title: textOf(item['title']),
    tags: listOf(item['tags']).flatMap((tag) => textOf(tag) ?? []),
    createdAt: item['dateCreated'],
    startsAt: meta['validSince'],
    expiresAt: meta['validUntil'],
    maxScans: countOf(meta['maxVisits']),
    // Shlink forwards the query unless a link says otherwise.
    forwardQuery: item['forwardQuery'] !== false,
    scans: countOf(visits),
    rules: [...rules, ...oldDeviceRules(item['deviceLongUrls'])],
    unsupported,
  };
}

/** Shlink 3.5 to 3.7 had a URL for each device instead of rules. */
const oldDeviceRules = (urls: unknown): GivenRule[] => {
  if (!isItem(urls)) return [];
  const desktop = textOf(urls['desktop']);
  return [
    ...deviceRules({ ios: textOf(urls['ios']), android: textOf(urls['android']) }),
    ...(desktop === undefined ? [] : [{ when: { devices: ['desktop' as const] }, destination_url: desktop }]),
  ];
};

function readRules(list: unknown): { rules: GivenRule[]; unsupported: string[] } {
  const unsupported: string[] = [];
  const rules = listOf(list)
    .filter(isItem)
    .flatMap((rule): GivenRule[] => {
      const when: When = {};
      const wrong = listOf(rule['conditions'])
        .filter(isItem)
        .find((condition) => !addCondition(when, condition));
      if (wrong === undefined) return [{ when, destination_url: textOf(rule['longUrl']) ?? '' }];
      unsupported.push(`a rule has the condition ${textOf(wrong['type'])} ${textOf(wrong['matchValue'])}`);
      return [];
    });
  return { rules, unsupported };
}

/** Adds a condition to those that must all hold; false if it cannot be expressed. */
function addCondition(when: When, { type, matchValue }: Item): boolean {
  const value = textOf(matchValue) ?? '';
  const device = devices.find((name) => name === value);
  const time = readTime(value)?.toISOString();
  if (type === 'device' && device !== undefined && when.devices === undefined) when.devices = [device];
  else if (type === 'language' && when.languages === undefined) when.languages = [value];
  else if (type === 'geolocation-country-code' && when.countries === undefined) when.countries = [value.toUpperCase()];
  else if (type === 'before-date' && time !== undefined && when.until === undefined) when.until = time;
  else if (type === 'after-date' && time !== undefined && when.from === undefined) when.from = time;
  else return false;
  return true;
}

async function* pages(client: ApiClient): AsyncGenerator<LinkPage> {
  for (let page = 1; ; page++) {
    const url = urlBelow(client.base, '/rest/v3/short-urls', { page, itemsPerPage: pageSize });
    const response = objectOf(await client.get(url, headersOf(client)), url);
    const { data, pagination } = isItem(response['shortUrls']) ? response['shortUrls'] : {};
    const links: SourceLink[] = [];
    for (const item of listOf(data).filter(isItem)) links.push(linkOf(item, await rulesOf(client, item)));
    const { pagesCount, totalItems } = isItem(pagination) ? pagination : {};
    yield { links, total: countOf(totalItems) };
    if (page >= (countOf(pagesCount) ?? 0)) return;
  }
}

const headersOf = ({ key }: ApiClient) => ({ 'x-api-key': key ?? '' });

/** Instances before 4.0 have no rules, and do not say whether a link has some. */
async function rulesOf(client: ApiClient, item: Item): Promise<unknown> {
  if (item['hasRedirectRules'] !== true) return [];
  const path = `/rest/v3/short-urls/${encodeURIComponent(String(item['shortCode']))}/redirect-rules`;
  const url = urlBelow(client.base, path, { domain: textOf(item['domain']) });
  const response = await client.get(url, headersOf(client), { mayBeMissing: true });
  return isItem(response) ? response['redirectRules'] : [];
}
