import { type ApiClient, objectOf, urlBelow } from '../client.ts';
import { type Item, idOf, isItem, type LinkPage, listOf, partsOf, type SourceLink, textOf } from '../link.ts';
import type { Source } from './source.ts';

/** https://dev.bitly.com/api-reference/#getBitlinksByGroup. Its list has no totals; its CSV does. */
export const bitly: Source = { readItem, itemsOf, pages };

function itemsOf(response: Item): unknown[] {
  return listOf(response['links']);
}

/** A link with custom back-halves works under each of them and under its first one, so each becomes a code. */
function readItem(item: Item): SourceLink[] {
  const first = textOf(item['link']) ?? textOf(item['id']);
  const all = [...listOf(item['custom_bitlinks']).map(textOf), first];
  const parts = all.flatMap((link) => partsOf(link) ?? []);
  const distinct = new Map(parts.map(({ host, shortCode }) => [idOf(host, shortCode), { host, shortCode }]));
  return [...distinct].map(([id, { host, shortCode }]) => ({
    id,
    host,
    shortCode,
    destination: textOf(item['long_url']) ?? '',
    title: textOf(item['title']),
    tags: listOf(item['tags']).flatMap((tag) => textOf(tag) ?? []),
    createdAt: item['created_at'],
    rules: [],
    unsupported: listOf(item['deeplinks']).length === 0 ? [] : ['it opens an app (deeplinks)'],
  }));
}

/** Of the group in the URL (`…/v4/groups/<guid>/bitlinks`), or of all groups (`…/v4`). */
async function* pages(client: ApiClient): AsyncGenerator<LinkPage> {
  const { base } = client;
  if (/\/bitlinks$/.test(base.pathname)) return yield* pagesFrom(client, urlBelow(base, '', query));
  const groupsUrl = urlBelow(base, '/groups');
  const groups = listOf(objectOf(await client.get(groupsUrl, headersOf(client)), groupsUrl)['groups']);
  for (const group of groups) {
    const guid = isItem(group) ? textOf(group['guid']) : undefined;
    if (guid !== undefined) yield* pagesFrom(client, urlBelow(base, `/groups/${guid}/bitlinks`, query));
  }
}

const query = { size: 100, archived: 'both' };
const headersOf = ({ key }: ApiClient) => ({ authorization: `Bearer ${key ?? ''}` });

async function* pagesFrom(client: ApiClient, first: URL): AsyncGenerator<LinkPage> {
  for (let url: URL | undefined = first; url !== undefined; ) {
    const response = objectOf(await client.get(url, headersOf(client)), url);
    yield { links: itemsOf(response).filter(isItem).flatMap(readItem) };
    const next: string | undefined = isItem(response['pagination'])
      ? textOf(response['pagination']['next'])
      : undefined;
    url = next === undefined ? undefined : sameOrigin(next, first);
  }
}

/** The address of the next page on the origin of the first, which has the key. */
function sameOrigin(next: string, first: URL): URL {
  const url = new URL(next, first);
  return new URL(`${url.pathname}${url.search}`, first.origin);
}
