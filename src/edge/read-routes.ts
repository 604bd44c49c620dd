import type { Route } from '../../projections/routes.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable } from '../lib/sql.ts';

/** Reads the routes of these short codes from Postgres, including deleted ones. */
export async function readRoutes(sql: Queryable, box: SecretBox, shortCodes: string[]): Promise<Route[]> {
  const rows = await sql<(Route & { unsealed_key: Uint8Array | null })[]>`
    SELECT c.id AS code, c.account, c.mode, c.short_code, c.destination_url, c.destination_revision AS revision, c.status,
      c.version, c.disabled_at IS NOT NULL AS disabled, coalesce(k.sealed, '') AS sealed_key, u.key AS unsealed_key
    FROM codes c LEFT JOIN visitor_keys k ON k.code = c.id LEFT JOIN unsealed_visitor_keys u ON u.code = c.id
    WHERE c.short_code = ANY(${shortCodes})`;
  // A key that an older version stored is plain until visitor-key-upkeep.ts has sealed it.
  return rows.map(({ unsealed_key, ...route }) =>
    unsealed_key === null ? route : { ...route, sealed_key: box.sealVisitorKey(unsealed_key, route.code) },
  );
}
