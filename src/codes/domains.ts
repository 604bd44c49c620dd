import { type FieldError, invalid } from '../lib/errors.ts';
import type { Queryable } from '../lib/sql.ts';

/** Throws 400 for each request whose domain is not an active domain of the account. */
export async function refuseDomains(
  sql: Queryable,
  account: string,
  requests: { domain?: string | undefined }[],
): Promise<void> {
  const names = [...new Set(requests.flatMap(({ domain }) => domain ?? []))];
  if (names.length === 0) return;
  const rows = await sql<{ name: string; status: string }[]>`
    SELECT name, status FROM domains WHERE account = ${account} AND name = ANY(${names}) AND status <> 'removed'`;
  const statuses = new Map(rows.map(({ name, status }) => [name, status]));
  const [first, ...rest] = requests.flatMap(({ domain }, index): FieldError[] => {
    const status = domain === undefined ? 'active' : statuses.get(domain);
    if (status === 'active') return [];
    const reason =
      status === undefined
        ? 'is not a domain of this account: add it with POST /v1/domains'
        : `is ${status}: see its problems in GET /v1/domains`;
    return [{ index, field: 'domain', message: `domain "${domain}" ${reason}.` }];
  });
  if (first !== undefined) throw invalid([first, ...rest]);
}

/** The names of the domains of an account on which codes can be created. */
export async function activeDomains(sql: Queryable, account: string): Promise<Set<string>> {
  const rows = await sql<{ name: string }[]>`SELECT name FROM domains WHERE account = ${account} AND status = 'active'`;
  return new Set(rows.map(({ name }) => name));
}
