import { readVisitorKeys } from '../codes/visitor-keys.ts';
import { visitorHash } from '../edge/visitor.ts';
import { parseAddress } from '../lib/ip-address.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../log/connect.ts';
import { type Attempt, scannerAgent } from './scanner.ts';

/** What became of scans, attempt by attempt: each had a visitor of its own, so each can be found again. */
export interface Reckoning {
  /** Attempts that were answered with a redirect. */
  redirected: number;
  /** Redirects that are not in the log. */
  lost: number;
  /** Attempts that are in the log more than once. */
  doubled: number;
  /** Scans in the log that nobody was redirected for: their client got no answer, or was told to come again. */
  unanswered: number;
  /** Scans of these codes in the log. */
  logged: number;
  /** The same as `total_scans` and `unique_scans` count them. */
  counted: number;
  unique: number;
}

export async function reckon({ sql, box }: { sql: Sql; box: SecretBox }, attempts: Attempt[]): Promise<Reckoning> {
  const codes = [...new Set(attempts.map(({ code }) => code.id))];
  const keys = await readVisitorKeys(sql, box, codes);
  const scans = await sql<{ scan: string; times: number }[]>`
    SELECT code || ' ' || replace(visitor::text, '-', '') AS scan, count(*) AS times
    FROM scans WHERE code = ANY(${codes}) GROUP BY 1`;
  const times = new Map(scans.map(({ scan, times }) => [scan, times]));
  const [counts] = await sql<[{ counted: number; unique: number }]>`
    SELECT coalesce(sum(total_scans), 0)::bigint AS counted, coalesce(sum(unique_scans), 0)::bigint AS "unique"
    FROM scan_counts WHERE code = ANY(${codes})`;

  const logged = scans.reduce((sum, { times }) => sum + times, 0);
  const reckoning = { redirected: 0, lost: 0, doubled: 0, unanswered: 0, logged, ...counts };
  for (const { code, address, outcome } of attempts) {
    const key = keys.get(code.id);
    const bytes = parseAddress(address);
    if (key === undefined || bytes === null) throw new Error(`${code.id} has no key, or ${address} is no address`);
    const found = times.get(`${code.id} ${visitorHash(key, bytes, scannerAgent).toString('hex')}`) ?? 0;
    if (outcome === 302) reckoning.redirected++;
    if (outcome === 302 && found === 0) reckoning.lost++;
    if (outcome !== 302 && found > 0) reckoning.unanswered++;
    if (found > 1) reckoning.doubled++;
  }
  return reckoning;
}
