import { type ApiClient, urlBelow } from '../client.ts';
import { countOf, type Item, identityOf, isItem, type LinkPage, listOf, type SourceLink, textOf } from '../link.ts';
import type { Source } from './source.ts';

/** https://developers.rebrandly.com/docs/list-links. `?workspace=<id>` in the URL selects a workspace. */
export const rebrandly: Source = { readItem, itemsOf: (response) => listOf(response['links']), pages };

const pageSize = 25;

function readItem(item: Item): SourceLink[] {
  const host = isItem(item['domain']) ? item['domain']['fullName'] : undefined;
  return [
    {
      ...identityOf({ shortUrl: item['shortUrl'], host, shortCode: item['slashtag'] }),
      destination: textOf(item['destination']) ?? '',
      title: textOf(item['title']),
      note: textOf(item['description']),
      tags: listOf(item['tags']).flatMap((tag) => (isItem(tag) ? (textOf(tag['name']) ?? []) : [])),
      createdAt: item['createdAt'],
      forwardQuery: item['forwardParameters'] === true,
      scans: countOf(item['clicks']),
      rules: [],
      unsupported: [],
    },
  ];
}

async function* pages(client: ApiClient): AsyncGenerator<LinkPage> {
  const base = new URL(client.base);
  const workspace = base.searchParams.get('workspace');
  base.searchParams.delete('workspace');
  const headers = { apikey: client.key ?? '', ...(workspace === null ? undefined : { workspace }) };
  for (let last: string | undefined; ; ) {
    const query = { limit: pageSize, orderBy: 'createdAt', orderDir: 'desc', last };
    const items = listOf(await client.get(urlBelow(base, '/links', query), headers)).filter(isItem);
    yield { links: items.flatMap(readItem) };
    const next = textOf(items.at(-1)?.['id']);
    if (items.length < pageSize || next === undefined || next === last) return;
    last = next;
  }
}
