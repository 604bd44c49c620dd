import { type ApiClient, objectOf, urlBelow } from '../client.ts';
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

/** https://developers.short.io/docs/getting-a-list-of-links. Its list has no totals. */
export const shortIo: Source = { readItem, itemsOf: (response) => listOf(response['links']), pages };

const pageSize = 150;

function readItem(item: Item): SourceLink[] {
  const shortUrl = textOf(item['secureShortURL']) ?? item['shortURL'];
  const hasPassword = item['hasPassword'] === true || textOf(item['password']) !== undefined;
  return [
    {
      ...identityOf({ shortUrl, shortCode: item['path'] }),
      destination: textOf(item['originalURL']) ?? '',
      title: textOf(item['title']),
      tags: listOf(item['tags']).flatMap((tag) => textOf(tag) ?? []),
      createdAt: item['createdAt'],
      expiresAt: item['expiresAt'],
      fallback: textOf(item['expiredURL']),
      maxScans: countOf(item['clicksLimit']),
      rules: deviceRules({ ios: textOf(item['iphoneURL']), android: textOf(item['androidURL']) }),
      unsupported: [
        ...(textOf(item['splitURL']) === undefined ? [] : ['it is an A/B test (splitURL)']),
        ...(item['cloaking'] === true ? ['it shows its destination under the short link (cloaking)'] : []),
      ],
      closed: hasPassword ? withPassword : undefined,
    },
  ];
}

/** Of the domain in the URL (`?domain_id=<id>`), or of all domains. */
async function* pages(client: ApiClient): AsyncGenerator<LinkPage> {
  const root = new URL(client.base);
  root.pathname = root.pathname.replace(/\/api(?:\/links)?\/?$/, '');
  const domain = root.searchParams.get('domain_id');
  if (domain !== null) return yield* pagesOf(client, root, domain);
  const url = urlBelow(root, '/api/domains');
  for (const entry of listOf(await client.get(url, headersOf(client)))) {
    const id = isItem(entry) ? textOf(entry['id']) : undefined;
    if (id !== undefined) yield* pagesOf(client, root, id);
  }
}

const headersOf = ({ key }: ApiClient) => ({ authorization: key ?? '' });

async function* pagesOf(client: ApiClient, root: URL, domain: string): AsyncGenerator<LinkPage> {
  for (let pageToken: string | undefined; ; ) {
    const url = urlBelow(root, '/api/links', { domain_id: domain, limit: pageSize, pageToken });
    const response = objectOf(await client.get(url, headersOf(client)), url);
    yield { links: listOf(response['links']).filter(isItem).flatMap(readItem) };
    const next = textOf(response['nextPageToken']);
    if (next === undefined || next === pageToken) return;
    pageToken = next;
  }
}
