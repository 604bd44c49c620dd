import type { ApiClient } from '../client.ts';
import type { Item, LinkPage, SourceLink } from '../link.ts';

/** A service that links are imported from. */
export interface Source {
  /** The links of one entry of its API, or of a JSON file of such entries; Bitly has several for one entry. */
  readItem(item: Item): SourceLink[];
  /** The entries of a page of its API, as a JSON file may contain it. */
  itemsOf(response: Item): unknown[];
  /** All links, page by page; undefined if it has no API. */
  pages?(client: ApiClient): AsyncGenerator<LinkPage>;
}
