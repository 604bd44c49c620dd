import { readVisitorKeys } from '../../src/codes/visitor-keys.ts';
import { visitorHash } from '../../src/edge/visitor.ts';
import { parseAddress } from '../../src/lib/ip-address.ts';
import type { SecretBox } from '../../src/lib/secret-box.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { type Attempt, scannerAgent } from './scanner.ts';

/** What became of attempted scans. Every attempt has a unique visitor, so its rows in the log can be identified. */
export interface ScanAccounting {
  /** Attempts answered with a redirect. */
  redirected: number;
  /** Redirects that are not in the log. */
  lost: number;
  /** Attempts stored in the log more than once. */
  duplicated: number;
  /** Attempts in the log whose client got no response or a 503. */
  unanswered: number;
  /** Scans of these codes in the log. */
  logged: number;
  /** The sums of `total_scans` and `unique_scans`. */
  counted: number;
  unique: number;
}

export async function accountForScans(
  { sql, box }: { sql: Sql; box: SecretBox },
  attempts: Attempt[],
): Promise<ScanAccounting> {
  const codes = [...new Set(attempts.map(({ code }) => code.id))];
  const keys = await readVisitorKeys(sql, box, codes);
  const scans = await sql<{ scan: string; times: number }[]>`
    SELECT code || ' ' || replace(visitor::text, '-', '') AS scan, count(*) AS times
    FROM scans WHERE code = ANY(${codes}) GROUP BY 1`;
  const timesLogged = new Map(scans.map(({ scan, times }) => [scan, times]));
  const [counts] = await sql<[{ counted: number; unique: number }]>`
    SELECT coalesce(sum(total_scans), 0)::bigint AS counted, coalesce(sum(unique_scans), 0)::bigint AS "unique"
    FROM scan_counts WHERE code = ANY(${codes})`;

  const logged = scans.reduce((sum, { times }) => sum + times, 0);
  const accounting = { redirected: 0, lost: 0, duplicated: 0, unanswered: 0, logged, ...counts };
  for (const { code, address, outcome } of attempts) {
    const key = keys.get(code.id);
    const bytes = parseAddress(address);
    if (key === undefined || bytes === null)
      throw new Error(`cannot hash the visitor: ${code.id} has no key or ${address} is not an IP address`);
    const found = timesLogged.get(`${code.id} ${visitorHash(key, bytes, scannerAgent).toString('hex')}`) ?? 0;
    if (outcome === 302) accounting.redirected++;
    if (outcome === 302 && found === 0) accounting.lost++;
    if (outcome !== 302 && found > 0) accounting.unanswered++;
    if (found > 1) accounting.duplicated++;
  }
  return accounting;
}
