import type { CodeFields } from '../../events/code-fields.ts';
import { type Link, linkOf } from '../../events/link.ts';
import type { Queryable } from '../lib/sql.ts';

/** More matches than this are not worth a list of ids: Postgres compares every code of the account instead. */
const maxCandidates = 10_000;
/**
 * An account with at most this many codes is searched by comparing each of them, which takes a few milliseconds. An index has
 * the codes of all accounts: a search reads the lists of all codes that share a trigram with the words, 60 ms for a million.
 */
const maxCompared = 5_000;
/** Shorter words have no trigram. */
const minWordLength = 3;

/** What a search is for: one code by its id or short link, or codes that contain the words, which may be a link on a domain. */
export type Search = { id: string } | { shortCode: string } | { words: string; link?: Link | undefined };

/** Recognizes a pasted id, a URL that contains one, and a short link, with or without its scheme. */
export function searchOf(text: string, shortBaseUrl: string): Search {
  const trimmed = text.trim();
  const [, id] = /(?:^|\/)(qr_[0-9A-Za-z]{20,40})(?:$|[/?#])/.exec(trimmed) ?? [];
  if (id !== undefined) return { id };
  const withoutScheme = (url: string) => url.replace(/^https?:\/\//i, '');
  const base = `${withoutScheme(shortBaseUrl)}/`;
  const rest = withoutScheme(trimmed);
  const [shortCode] = rest.slice(base.length).split(/[/?#]/, 1);
  const isShortLink = rest.toLowerCase().startsWith(base.toLowerCase()) && shortCode !== undefined && shortCode !== '';
  if (isShortLink) return { shortCode };
  const [, domain, code] = /^([^/?#:]+)(?::\d+)?\/([\w-]+)\/?(?:[?#]|$)/.exec(rest) ?? [];
  return { words: text, link: domain === undefined || code === undefined ? undefined : linkOf(domain, code) };
}

/** Whether a database searches by `code_trigrams`, which its migration decided (0014_code_search.sql). */
const hasTrigramTable = new WeakMap<Queryable, Promise<boolean>>();

function searchesByTable(sql: Queryable): Promise<boolean> {
  const known = hasTrigramTable.get(sql);
  if (known !== undefined) return known;
  const looked = sql<[{ exists: boolean }]>`SELECT to_regclass('code_trigrams') IS NOT NULL AS exists`.then(
    ([{ exists }]) => exists,
  );
  hasTrigramTable.set(sql, looked);
  looked.catch(() => hasTrigramTable.delete(sql));
  return looked;
}

/**
 * The ids of all codes that may contain `words`; undefined where an index of pg_trgm answers the comparison itself, or
 * where the words are too short or too common for a list to help.
 */
async function findCandidates(sql: Queryable, words: string): Promise<string[] | undefined> {
  if (words.length < minWordLength || !(await searchesByTable(sql))) return undefined;
  const rows = await sql<{ code: string }[]>`
    SELECT code FROM code_trigrams WHERE trigrams @> trigrams_of(lower(${words}::text))
    LIMIT ${maxCandidates + 1}`;
  return rows.length > maxCandidates ? undefined : rows.map(({ code }) => code);
}

/** How a search finds codes. */
export interface SearchPlan {
  /** All codes that may match; undefined if that is not known. */
  candidates?: string[] | undefined;
  /** Whether each code of the account is compared, without an index. */
  comparesAll?: boolean;
}

/** Fields that a search compares and that can change; the short code is compared too. */
export const searchedFields = ['name', 'destination_url', 'note'] as const satisfies (keyof CodeFields)[];

/** A condition for codes with `words` in one of `searchedFields` or the short code, in any case. */
export function containsWords(sql: Queryable, words: string, { candidates, comparesAll = false }: SearchPlan = {}) {
  const pattern = `%${words.replace(/[\\%_]/g, '\\$&')}%`;
  // No index has this expression.
  const compared = (column: string) => (comparesAll ? sql`(${sql(column)} || '')` : sql(column));
  const contains = (column: string) => sql`${compared(column)} ILIKE ${pattern}`;
  return sql`
    ${candidates === undefined ? sql`` : sql`id = ANY(${candidates}) AND`}
    (${searchedFields.reduce((any, field) => sql`${any} OR ${contains(field)}`, contains('short_code'))})`;
}

const wordsOf = (search: Exclude<Search, { id: string }>) => ('shortCode' in search ? search.shortCode : search.words);

/** Plans a search in an account that has `codes` codes. */
export async function planSearch(sql: Queryable, search: Search, codes: number): Promise<SearchPlan> {
  if ('id' in search) return {};
  if (codes <= maxCompared) return { comparesAll: true };
  return { candidates: await findCandidates(sql, wordsOf(search)) };
}

/** A condition for the codes that a search finds. */
export function matchesSearch(sql: Queryable, search: Search, plan: SearchPlan = {}) {
  if ('id' in search) return sql`id = ${search.id}`;
  const contains = containsWords(sql, wordsOf(search), plan);
  // Phones change the case of what they paste.
  if ('shortCode' in search) return sql`${contains} AND lower(short_code) = lower(${search.shortCode})`;
  return search.link === undefined ? contains : sql`((${contains}) OR lower(short_code) = lower(${search.link}))`;
}
