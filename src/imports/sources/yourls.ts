import { type ApiClient, objectOf, urlBelow } from '../client.ts';
import { countOf, type Item, idOf, isItem, type LinkPage, partsOf, type SourceLink, textOf } from '../link.ts';
import type { Source } from './source.ts';

/** `yourls-api.php?action=stats` of https://github.com/YOURLS/YOURLS. The key is the secret signature token. */
export const yourls: Source = { readItem, itemsOf, pages };

const pageSize = 500;

/** `{"link_1": {…}, "link_2": {…}}` */
function itemsOf(response: Item): unknown[] {
  return isItem(response['links']) ? Object.values(response['links']) : [];
}

function readItem(item: Item): SourceLink[] {
  const parts = partsOf(textOf(item['shorturl']));
  // YOURLS may be in a folder of its host: the keyword is the last part of the path.
  const shortCode = textOf(item['keyword']) ?? parts?.shortCode.split('/').at(-1) ?? '';
  return [
    {
      id: idOf(parts?.host, shortCode),
      host: parts?.host,
      shortCode,
      destination: textOf(item['url']) ?? '',
      title: textOf(item['title']),
      tags: [],
      createdAt: item['timestamp'],
      scans: countOf(item['clicks']),
      rules: [],
      unsupported: [],
    },
  ];
}

async function* pages(client: ApiClient): AsyncGenerator<LinkPage> {
  const path = client.base.pathname.endsWith('/yourls-api.php') ? '' : '/yourls-api.php';
  for (let start = 0; ; start += pageSize) {
    const query = { action: 'stats', format: 'json', filter: 'last', limit: pageSize, start, signature: client.key };
    const url = urlBelow(client.base, path, query);
    const response = objectOf(await client.get(url, {}), url);
    const items = itemsOf(response).filter(isItem);
    yield {
      links: items.flatMap(readItem),
      total: isItem(response['stats']) ? countOf(response['stats']['total_links']) : undefined,
    };
    if (items.length < pageSize) return;
  }
}
