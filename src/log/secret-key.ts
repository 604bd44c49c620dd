import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Sql } from '../lib/sql.ts';

/** Whether the database's secrets are encrypted with this key. In a new database, stores the key's fingerprint. */
export async function isKeyOfDatabase(sql: Sql, { fingerprint }: SecretBox): Promise<boolean> {
  const own = fingerprint.toString('hex');
  await sql`INSERT INTO secrets VALUES ('secret_key', decode(${own}, 'hex')) ON CONFLICT DO NOTHING`;
  return (await storedFingerprint(sql)) === own;
}

/** The fingerprint of the SECRET_KEY of this database in hex; undefined before the first start of the service. */
export async function storedFingerprint(sql: Queryable): Promise<string | undefined> {
  const [{ exists }] = await sql<[{ exists: boolean }]>`SELECT to_regclass('secrets') IS NOT NULL AS exists`;
  if (!exists) return undefined;
  const [row] = await sql<{ value: string }[]>`
    SELECT encode(value, 'hex') AS value FROM secrets WHERE name = 'secret_key'`;
  return row?.value;
}
