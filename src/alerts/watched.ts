import type { Alert } from '../../events/alert.ts';
import type { Code } from '../../events/code.ts';
import { urlsOfRules } from '../../events/targeting/rule-ids.ts';
import { hasAvailability, hasTags } from '../codes/codes.ts';
import type { Queryable } from '../lib/sql.ts';

/** Codes that one alert watches, those with the most scans first. */
export const maxWatchedCodes = 5_000;

/** A code that guests can scan now. */
export type WatchedCode = Pick<Code, 'id' | 'account' | 'mode' | 'name' | 'created_at' | 'updated_at' | 'starts_at'>;

/** SQL for the codes of an alert that are active. */
const isWatched = (sql: Queryable, { account, mode, codes, tags }: Alert) => sql`
  c.account = ${account} AND c.mode = ${mode} AND c.status = 'active' AND c.disabled_at IS NULL
  ${codes === null ? sql`` : sql`AND c.id = ANY(${codes})`}
  ${tags === null ? sql`` : sql`AND ${hasTags(sql, { tags, match: 'any' })}`}`;

/** The codes of an alert that lead somewhere now. */
export const watchedCodes = (sql: Queryable, alert: Alert, now: Date): Promise<WatchedCode[]> => sql<WatchedCode[]>`
  SELECT c.id, c.account, c.mode, c.name, c.created_at, c.updated_at, c.starts_at
  FROM codes c LEFT JOIN scan_counts n ON n.code = c.id
  WHERE ${isWatched(sql, alert)} AND ${hasAvailability(sql, 'live', now)}
  ORDER BY n.total_scans DESC NULLS LAST, c.id LIMIT ${maxWatchedCodes}`;

/** Rules of a code can have 130 kB. */
const codesPerRead = 100;

/** Calls `onCode` with everywhere that each of these codes can lead, each URL once, until it returns false. */
export async function eachUrls(
  sql: Queryable,
  codes: WatchedCode[],
  onCode: (code: WatchedCode, urls: string[]) => boolean,
): Promise<void> {
  for (let from = 0; from < codes.length; from += codesPerRead) {
    const next = codes.slice(from, from + codesPerRead);
    const rows = await sql<Pick<Code, 'id' | 'destination_url' | 'rules'>[]>`
      SELECT id, destination_url, rules FROM codes WHERE id = ANY(${next.map(({ id }) => id)})`;
    const leads = new Map(rows.map((row) => [row.id, row]));
    for (const code of next) {
      const { destination_url, rules } = leads.get(code.id) ?? { destination_url: '', rules: null };
      const urls = new Set([destination_url, ...urlsOfRules(rules ?? []).map(({ url }) => url)]);
      if (
        !onCode(
          code,
          [...urls].filter((url) => url !== ''),
        )
      )
        return;
    }
  }
}

/** A code with a limit of scans, of which it has used a part. */
export interface LimitedCode {
  id: string;
  name: string;
  used: number;
  max_scans: number;
}

/** The codes of an alert that have used at least this share of their `max_scans`, those with the least left first. */
export const codesNearLimit = (sql: Queryable, alert: Alert, now: Date): Promise<LimitedCode[]> => sql<LimitedCode[]>`
  SELECT c.id, c.name, l.used, c.max_scans FROM codes c JOIN limited_scans l ON l.code = c.id
  WHERE ${isWatched(sql, alert)} AND c.max_scans IS NOT NULL AND l.used * 100 >= c.max_scans * ${alert.percent}::bigint
    AND coalesce(c.expires_at > ${now}, true)
  ORDER BY l.used::float / c.max_scans DESC, c.id LIMIT ${maxWatchedCodes}`;
