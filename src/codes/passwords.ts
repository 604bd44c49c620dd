import type { Queryable, Transaction } from '../lib/sql.ts';

/** What a change does with the password of a code: stores this hash, or removes it. */
export type PasswordChange = { hash: string } | 'remove';

/** The argon2id hash of the password of a code; undefined without one. */
export async function readPasswordHash(sql: Queryable, code: string): Promise<string | undefined> {
  const [row] = await sql<{ hash: string }[]>`SELECT hash FROM code_passwords WHERE code = ${code}`;
  return row?.hash;
}

export async function storePasswords(tx: Transaction, passwords: { code: string; hash: string }[]): Promise<void> {
  if (passwords.length === 0) return;
  await tx`
    INSERT INTO code_passwords (code, hash)
    SELECT code, hash FROM jsonb_to_recordset(${tx.json(passwords)}) AS p (code text, hash text)
    ON CONFLICT (code) DO UPDATE SET hash = excluded.hash`;
}

export const removePassword = (tx: Transaction, code: string) => tx`DELETE FROM code_passwords WHERE code = ${code}`;
