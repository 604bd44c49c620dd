import type { Code } from '../../events/code.ts';
import { matchesSearch, planSearch, searchOf } from '../codes/search.ts';
import { findAnyCode } from '../codes/takedown.ts';
import { invalid } from '../lib/errors.ts';
import type { Queryable } from '../lib/sql.ts';
import { containing, type ListedPage, pageOf, pageSize } from './paging.ts';

export interface ListedCode
  extends Pick<
    Code,
    | 'id'
    | 'account'
    | 'mode'
    | 'name'
    | 'short_code'
    | 'destination_url'
    | 'status'
    | 'created_at'
    | 'disabled_reason'
    | 'disabled_at'
  > {
  account_name: string;
  account_suspended_at: Date | null;
}

const select = (sql: Queryable, condition: ReturnType<typeof sql>, after: string | undefined) => sql<ListedCode[]>`
  SELECT c.id, c.account, c.mode, c.name, c.short_code, c.destination_url, c.status, c.created_at, c.disabled_reason,
    c.disabled_at, a.name AS account_name, a.suspended_at AS account_suspended_at
  FROM (
    SELECT * FROM codes
    WHERE status <> 'deleted' AND ${condition} ${after === undefined ? sql`` : sql`AND id < ${after}`}
    ORDER BY id DESC LIMIT ${pageSize + 1}
  ) AS c JOIN accounts a ON a.id = c.account
  ORDER BY c.id DESC`;

export async function findListedCode(sql: Queryable, id: string): Promise<ListedCode | undefined> {
  const [code] = await select(sql, sql`id = ${id}`, undefined);
  return code;
}

/** Shorter words have no trigram, so that all codes would be compared. */
const minWords = 3;

interface CodeListing {
  /** A short code, short link, id, or a part of a destination, name or note; empty for the codes that are taken down. */
  search: string;
  /** Whether fallbacks and the destinations of rules are compared too, which no index has: reads all codes. */
  everywhere: boolean;
  /** The id of the last code of the page before. */
  after: string | undefined;
  shortBaseUrl: string;
}

/** One page of the codes of all accounts that a search finds, newest first; what it names exactly comes first. */
export async function findCodesOfAll(sql: Queryable, listing: CodeListing): Promise<ListedPage<ListedCode>> {
  const { everywhere, after, shortBaseUrl } = listing;
  const text = listing.search.trim();
  if (text === '') return pageOf(await select(sql, sql`${isTakenDown(sql)}`, after), ({ id }) => id);
  const search = searchOf(text, shortBaseUrl);
  const named = 'id' in search ? search.id : 'shortCode' in search ? search.shortCode : (search.link ?? text);
  const exact = await findAnyCode(sql, named);
  const words = 'words' in search ? search.words.trim() : undefined;
  if (words === undefined || words.length < minWords) {
    if (words !== undefined && exact === undefined) throw tooShort();
    return { data: exact === undefined ? [] : await select(sql, sql`id = ${exact.id}`, undefined), next: null };
  }
  const condition = everywhere
    ? containsAnywhere(sql, words)
    : matchesSearch(sql, search, await planSearch(sql, search, Number.POSITIVE_INFINITY));
  const page = pageOf(await select(sql, sql`(${condition})`, after), ({ id }) => id);
  if (exact === undefined || after !== undefined) return page;
  const first = await findListedCode(sql, exact.id);
  const others = page.data.filter(({ id }) => id !== exact.id);
  return { data: first === undefined ? others : [first, ...others], next: page.next };
}

const tooShort = () =>
  invalid([
    {
      field: 'search',
      message: `search must be a short code, or have at least ${minWords} characters of a destination.`,
    },
  ]);

/** Read through the index of takedowns. */
const isTakenDown = (sql: Queryable) => sql`
  disabled_at IS NOT NULL AND id IN (SELECT stream FROM events WHERE type = 'code_disabled')`;

const containsAnywhere = (sql: Queryable, words: string) => sql`
  destination_url ILIKE ${containing(words)} OR fallback_url ILIKE ${containing(words)}
  OR rules::text ILIKE ${containing(words)}`;
