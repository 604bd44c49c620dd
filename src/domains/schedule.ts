import type { Domain } from '../../events/domain.ts';
import type { Queryable } from '../lib/sql.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Of a claim that is not proved yet, for as long as its owner is likely to work on it. */
const pendingEveryMs = 10 * minuteMs;
const pendingForMs = 72 * hourMs;
/** Between 22 and 26 hours, so that domains that were added together are not checked together for ever. */
const dailyMs = { min: 22 * hourMs, max: 26 * hourMs };
/** A claim by another account leads to a check, unless there was one within this time. */
const minRequestedMs = 5 * minuteMs;

/** When a new claim is checked by itself for the first time. */
export const firstCheckAt = (now: Date): Date => new Date(now.getTime() + pendingEveryMs);

/** When a domain is checked next; null for a claim that was not proved in 72 hours. `random` is from 0 to 1. */
export function nextCheckAt({ status, created_at }: Domain, now: Date, random = Math.random()): Date | null {
  const inMs = (ms: number) => new Date(now.getTime() + ms);
  if (status !== 'pending') return inMs(dailyMs.min + random * (dailyMs.max - dailyMs.min));
  return now.getTime() - created_at.getTime() < pendingForMs ? inMs(pendingEveryMs) : null;
}

/** Makes the check of the active domain of this name due now, unless it was checked just now. */
export async function requestCheck(sql: Queryable, name: string, now: Date): Promise<void> {
  await sql`
    UPDATE domain_checks c SET next_at = ${now}
    FROM domains d
    WHERE d.id = c.domain AND d.name = ${name} AND d.status = 'active' AND c.next_at > ${now}
      AND (c.checked_at IS NULL OR c.checked_at < ${new Date(now.getTime() - minRequestedMs)})`;
}

/** A domain whose check is due. */
export type DueDomain = Pick<Domain, 'id' | 'account' | 'name' | 'token'>;

/**
 * Domains whose check is due, at most `limit`: first one of each account, then a second one of each, so that an account with
 * thousands of them does not delay the others. Domains of suspended accounts wait.
 */
export const dueDomains = (sql: Queryable, now: Date, limit: number): Promise<DueDomain[]> => sql<DueDomain[]>`
  SELECT d.id, d.account, d.name, d.token
  FROM (
    SELECT c.domain, c.next_at, row_number() OVER (PARTITION BY c.account ORDER BY c.next_at, c.domain) AS turn
    FROM domain_checks c JOIN accounts a ON a.id = c.account
    WHERE c.next_at <= ${now} AND a.suspended_at IS NULL
  ) AS due JOIN domains d ON d.id = due.domain
  WHERE d.status <> 'removed'
  ORDER BY due.turn, due.next_at, d.id LIMIT ${limit}`;
