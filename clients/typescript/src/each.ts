/** A page of a list: the cursor or the number of the page says what follows. */
export interface ListPage {
  data: unknown[];
  next?: string | null;
  has_more?: boolean;
  pagination?: { page: number; total_pages: number };
}

/** An operation that answers with a page of a list. */
export type ListOperation = (options: never) => Promise<ListPage>;

type ItemOf<List extends ListOperation> = Awaited<ReturnType<List>>['data'][number];

/**
 * Every item of a list, from all of its pages, which are requested when they are needed.
 *
 * @example
 * for await (const code of each(listQrCodes, { client, query: { tag: ['summer'], limit: 100 } })) console.log(code.name);
 */
export async function* each<List extends ListOperation>(
  list: List,
  options: Parameters<List>[0],
): AsyncGenerator<ItemOf<List>, void, undefined> {
  const { query: first, ...rest } = options as { query?: object };
  let query = first;
  do {
    const page = await list({ ...rest, query } as never);
    yield* page.data as Awaited<ItemOf<List>>[];
    query = followingQuery(query, page);
  } while (query !== undefined);
}

/** What requests the page after a page; undefined at the end of the list. */
function followingQuery(
  query: object | undefined,
  { next, has_more = true, pagination }: ListPage,
): object | undefined {
  if (typeof next === 'string') return has_more ? { ...query, page: undefined, after: next } : undefined;
  if (next === null || pagination === undefined || pagination.page >= pagination.total_pages) return undefined;
  return { ...query, page: pagination.page + 1 };
}
