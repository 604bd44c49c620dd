import packageJson from '../../package.json' with { type: 'json' };
import type { Sql } from '../lib/sql.ts';
import { lastBackup } from '../maintenance/backup-record.ts';
import { readLag } from '../stream/lag.ts';
import { listInstances } from './instances.ts';

const maxFailingDomains = 50;

export interface FailingDomain {
  id: string;
  name: string;
  account: string;
  account_name: string;
  checked_at: Date | null;
  problems: { check: string; expected: string; found: string }[];
}

/** What an operator looks at first. Reads a few rows only, whatever the size of the log. */
export async function readHealth(sql: Sql) {
  const [{ head, projections }, instances, backup, domains, failing] = await Promise.all([
    readLag(sql),
    listInstances(sql),
    lastBackup(sql),
    sql<{ status: string; count: number }[]>`
      SELECT status, count(*) AS count FROM domains WHERE status <> 'removed' GROUP BY status`,
    sql<FailingDomain[]>`
      SELECT d.id, d.name, d.account, a.name AS account_name, c.checked_at, coalesce(c.problems, '[]') AS problems
      FROM domains d JOIN accounts a ON a.id = d.account LEFT JOIN domain_checks c ON c.domain = d.id
      WHERE d.status = 'failing' ORDER BY d.name LIMIT ${maxFailingDomains}`,
  ]);
  const counts = new Map(domains.map(({ status, count }) => [status, count]));
  return {
    version: packageJson.version,
    head,
    projections,
    instances,
    backup,
    domains: {
      active: counts.get('active') ?? 0,
      failing: counts.get('failing') ?? 0,
      pending: counts.get('pending') ?? 0,
      problems: failing,
    },
  };
}
