import type { Domain, DomainProblem } from '../../events/domain.ts';
import { isId } from '../lib/ids.ts';
import type { Queryable } from '../lib/sql.ts';

/** A domain as its account sees it. */
export interface DomainDetails extends Domain {
  /** Whether it is the one that the console suggests for new codes. */
  primary: boolean;
  /** How many codes of the account are on it, without deleted ones. */
  codes: number;
  problems: DomainProblem[];
  checked_at: Date | null;
}

/** Domains with what is not in their own row. Codes of a domain begin with its name and a slash; "0" is after "/". */
const details = (sql: Queryable, which: ReturnType<typeof sql>) => sql<DomainDetails[]>`
  SELECT d.*, c.checked_at, coalesce(c.problems, '[]') AS problems,
    EXISTS (SELECT FROM accounts a WHERE a.id = d.account AND a.primary_domain = d.id) AS primary,
    (
      SELECT count(*) FROM codes
      WHERE short_code >= d.name || '/' AND short_code < d.name || '0' AND account = d.account AND status <> 'deleted'
    ) AS codes
  FROM (${which}) AS d LEFT JOIN domain_checks c ON c.domain = d.id
  ORDER BY d.id`;

/** A domain of the account that is not removed. */
export async function findDomain(sql: Queryable, account: string, id: string): Promise<DomainDetails | undefined> {
  if (!isId('dom', id)) return undefined;
  const [domain] = await details(
    sql,
    sql`SELECT * FROM domains WHERE id = ${id} AND account = ${account} AND status <> 'removed'`,
  );
  return domain;
}

/** The number of domains of an account, pending ones included. */
export async function countDomains(sql: Queryable, account: string): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`
    SELECT count(*) FROM domains WHERE account = ${account} AND status <> 'removed'`;
  return count;
}

/** A page of the domains of an account that are not removed, oldest first, and their number. */
export async function listDomains(
  sql: Queryable,
  account: string,
  { page, limit }: { page: number; limit: number },
): Promise<{ domains: DomainDetails[]; total: number }> {
  const [domains, total] = await Promise.all([
    details(
      sql,
      sql`
        SELECT * FROM domains WHERE account = ${account} AND status <> 'removed'
        ORDER BY id LIMIT ${limit} OFFSET ${(page - 1) * limit}`,
    ),
    countDomains(sql, account),
  ]);
  return { domains, total };
}
