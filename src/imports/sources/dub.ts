import type { GivenRule } from '../../../events/targeting/rule-ids.ts';
import { type ApiClient, urlBelow } from '../client.ts';
import { withPassword } from '../columns.ts';
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
import type { Source } from './source.ts';

/** https://dub.co/docs/api-reference/endpoint/retrieve-a-list-of-links */
export const dub: Source = { readItem, itemsOf: (response) => listOf(response['links']), pages };

const pageSize = 100;

function readItem(item: Item): SourceLink[] {
  return [
    {
      ...identityOf({ shortUrl: item['shortLink'], host: item['domain'], shortCode: item['key'] }),
      destination: textOf(item['url']) ?? '',
      title: textOf(item['title']),
      note: textOf(item['comments']),
      tags: listOf(item['tags']).flatMap((tag) => (isItem(tag) ? (textOf(tag['name']) ?? []) : [])),
      createdAt: item['createdAt'],
      expiresAt: item['expiresAt'],
      fallback: textOf(item['expiredUrl']),
      scans: countOf(item['clicks']),
      rules: [...deviceRules({ ios: textOf(item['ios']), android: textOf(item['android']) }), ...geoRules(item['geo'])],
      unsupported: [
        ...(item['rewrite'] === true ? ['it shows its destination under the short link (rewrite)'] : []),
        ...(listOf(item['testVariants']).length > 0 ? ['it is an A/B test (testVariants)'] : []),
      ],
      closed: textOf(item['password']) === undefined ? undefined : withPassword,
    },
  ];
}

/** `{"DE": "https://…"}` */
const geoRules = (geo: unknown): GivenRule[] =>
  Object.entries(isItem(geo) ? geo : {}).flatMap(([country, url]) =>
    typeof url === 'string' ? [{ when: { countries: [country] }, destination_url: url }] : [],
  );

async function* pages(client: ApiClient): AsyncGenerator<LinkPage> {
  for (let page = 1; ; page++) {
    const url = urlBelow(client.base, '/links', { page, pageSize, showArchived: 'true' });
    const items = listOf(await client.get(url, { authorization: `Bearer ${client.key ?? ''}` })).filter(isItem);
    yield { links: items.flatMap(readItem) };
    if (items.length < pageSize) return;
  }
}
