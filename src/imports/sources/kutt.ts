import { type ApiClient, objectOf, urlBelow } from '../client.ts';
import { withPassword } from '../columns.ts';
import { countOf, type Item, identityOf, isItem, type LinkPage, listOf, type SourceLink, textOf } from '../link.ts';
import type { Source } from './source.ts';

/** `GET /api/v2/links` of https://github.com/thedevs-network/kutt, which returns up to 50 links. */
export const kutt: Source = { readItem, itemsOf: (response) => listOf(response['data']), pages };

const pageSize = 50;

function readItem(item: Item): SourceLink[] {
  const isBanned = item['banned'] === true || item['banned'] === 1;
  return [
    {
      ...identityOf({ shortUrl: item['link'], host: item['domain'], shortCode: item['address'] }),
      destination: textOf(item['target']) ?? '',
      title: textOf(item['description']),
      tags: [],
      createdAt: item['created_at'],
      expiresAt: item['expire_in'],
      scans: countOf(item['visit_count']),
      rules: [],
      unsupported: [],
      closed: isBanned ? 'it is banned at Kutt' : item['password'] === true ? withPassword : undefined,
    },
  ];
}

async function* pages(client: ApiClient): AsyncGenerator<LinkPage> {
  for (let skip = 0; ; skip += pageSize) {
    const url = urlBelow(client.base, '/api/v2/links', { limit: pageSize, skip });
    const response = objectOf(await client.get(url, { 'x-api-key': client.key ?? '' }), url);
    const items = listOf(response['data']).filter(isItem);
    const total = countOf(response['total']);
    yield { links: items.flatMap(readItem), total };
    if (items.length === 0 || (total !== undefined && skip + pageSize >= total)) return;
  }
}
