import type { Queryable } from '../lib/sql.ts';

const codesPerQuery = 10_000;

/** All rows of a table with one row for each code, in pages: no statement takes longer because there are more codes. */
export async function readByCode<T extends { code: string }>(
  readPage: (after: string, limit: number) => PromiseLike<T[]>,
): Promise<T[]> {
  const pages: T[][] = [];
  for (let after = ''; ; ) {
    const page = await readPage(after, codesPerQuery);
    pages.push(page);
    const last = page.at(-1);
    if (last === undefined || page.length < codesPerQuery) return pages.flat();
    after = last.code;
  }
}

/** Ranges of the ids of all codes, for queries that select few of them. */
export async function* codeRanges(sql: Queryable): AsyncGenerator<{ after: string; to: string }> {
  for (let after = ''; ; ) {
    const [{ to }] = await sql<[{ to: string | null }]>`
      SELECT max(id) AS to FROM (
        SELECT id FROM codes WHERE id > ${after} ORDER BY id LIMIT ${codesPerQuery}
      ) AS page`;
    if (to === null) return;
    yield { after, to };
    after = to;
  }
}

/** Whether the row `t` of a table with one row for each code is of the account; in SQL. */
export const isOfAccount = (sql: Queryable, account: string | undefined) =>
  account === undefined ? sql`true` : sql`EXISTS (SELECT FROM codes c WHERE c.id = t.code AND c.account = ${account})`;
