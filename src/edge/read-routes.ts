import { foldShortCode } from '../../events/short-code.ts';
import { type TargetingFields, targetingOf } from '../../events/targeting/targeting.ts';
import type { Route } from '../../projections/routes.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable } from '../lib/sql.ts';

type TimeField = 'starts_at' | 'expires_at' | 'limit_reached_at';
type JsonFields = Omit<TargetingFields, TimeField> & Record<TimeField, string | null>;
type Row = Omit<Route, 'targeting' | 'password_hash'> & {
  unsealed_key: Uint8Array | null;
  fields: JsonFields | null;
  password_hash: string | null;
};

/**
 * Reads the routes of these short codes from Postgres, including deleted ones, by the requested short code: the code with
 * exactly this short code, or else the first given one that differs only in case.
 */
export async function readRoutes(sql: Queryable, box: SecretBox, shortCodes: string[]): Promise<Map<string, Route>> {
  const exact = await sql<Row[]>`${sql.unsafe(selectRoutes)} AND c.short_code = ANY(${shortCodes})`;
  const found = new Map(exact.map((row) => [row.short_code, routeOf(row, box)]));
  const missing = shortCodes.filter((shortCode) => !found.has(shortCode));
  if (missing.length === 0) return found;
  // By id, which begins with the time of creation: the position of a code changes when its account is erased.
  const inAnyCase = await sql<Row[]>`
    ${sql.unsafe(selectRoutes)} AND folded_given_code(c.short_code, c.short_code_given) = ANY(${missing.map(foldShortCode)})
    ORDER BY c.id DESC`;
  const given = new Map(inAnyCase.map((row) => [foldShortCode(row.short_code), routeOf(row, box)]));
  for (const shortCode of missing) {
    const route = given.get(foldShortCode(shortCode));
    if (route !== undefined) found.set(shortCode, route);
  }
  return found;
}

/** Codes of an account that is being imported are not there yet. */
const selectRoutes = `
    SELECT c.id AS code, c.account, c.mode, c.short_code, c.destination_url, c.destination_revision AS revision, c.status,
      c.version, c.disabled_at IS NOT NULL AS disabled, coalesce(k.sealed, '') AS sealed_key, u.key AS unsealed_key,
      CASE WHEN c.has_password THEN coalesce((SELECT hash FROM code_passwords p WHERE p.code = c.id), '') END
        AS password_hash,
      CASE WHEN num_nonnulls(c.rules, c.starts_at, c.expires_at, c.max_scans, c.fallback_url, c.forward_query, c.utm) > 0
        THEN jsonb_build_object('rules', c.rules, 'starts_at', c.starts_at, 'expires_at', c.expires_at,
          'max_scans', c.max_scans, 'limit_reached_at', c.limit_reached_at, 'fallback_url', c.fallback_url,
          'forward_query', c.forward_query, 'utm', c.utm) END AS fields
    FROM codes c LEFT JOIN visitor_keys k ON k.code = c.id LEFT JOIN unsealed_visitor_keys u ON u.code = c.id
    WHERE NOT EXISTS (SELECT FROM account_imports i WHERE i.account = c.account AND i.done_at IS NULL)`;

/** A key that an older version stored is plain until visitor-key-upkeep.ts has sealed it. */
const routeOf = ({ unsealed_key, fields, password_hash, ...route }: Row, box: SecretBox): Route => ({
  ...route,
  ...(password_hash === null ? {} : { password_hash }),
  ...(fields === null ? {} : { targeting: targetingOf(withTimes(fields)) }),
  ...(unsealed_key === null ? {} : { sealed_key: box.sealVisitorKey(unsealed_key, route.code) }),
});

const timeOf = (text: string | null) => (text === null ? null : new Date(text));

const withTimes = ({ starts_at, expires_at, limit_reached_at, ...fields }: JsonFields): TargetingFields => ({
  ...fields,
  starts_at: timeOf(starts_at),
  expires_at: timeOf(expires_at),
  limit_reached_at: timeOf(limit_reached_at),
});
