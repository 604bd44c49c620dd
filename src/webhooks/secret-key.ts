import type { SecretBox } from './secrets.ts';
import type { Sql } from './sql.ts';

/**
 * Whether the key is the one that this database's secrets are encrypted with. The first key that comes is: from then
 * on, an instance with another would sign with nothing, and could not even tell why.
 */
export async function isKeyOfDatabase(sql: Sql, { fingerprint }: SecretBox): Promise<boolean> {
  const mine = fingerprint.toString('hex');
  await sql`INSERT INTO secrets VALUES ('secret_key', decode(${mine}, 'hex')) ON CONFLICT DO NOTHING`;
  const [row] = await sql<[{ value: string }]>`
    SELECT encode(value, 'hex') AS value FROM secrets WHERE name = 'secret_key'`;
  return row.value === mine;
}

/** The fingerprint of the key that this database was first started with, in hex; undefined before the first start. */
export async function storedFingerprint(sql: Sql): Promise<string | undefined> {
  const [{ exists }] = await sql<[{ exists: boolean }]>`SELECT to_regclass('secrets') IS NOT NULL AS exists`;
  if (!exists) return undefined;
  const [row] = await sql<{ value: string }[]>`
    SELECT encode(value, 'hex') AS value FROM secrets WHERE name = 'secret_key'`;
  return row?.value;
}
