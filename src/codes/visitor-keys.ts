import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Transaction } from '../lib/sql.ts';

export interface SealedKey {
  code: string;
  sealed: Buffer;
}

/** A new visitor key: 32 random bytes, encrypted for this code. */
export const newVisitorKey = (box: SecretBox, code: string): SealedKey => ({
  code,
  sealed: box.sealVisitorKey(randomBytes(32), code),
});

/** Creates a key for each code. Events do not contain keys: the log alone must not be enough to identify a visitor. */
export const createVisitorKeys = (tx: Transaction, box: SecretBox, codes: string[]): Promise<void> =>
  insertSealed(
    tx,
    codes.map((code) => newVisitorKey(box, code)),
  );

export async function insertSealed(tx: Transaction, keys: SealedKey[]): Promise<void> {
  const rows = keys.map(({ code, sealed }) => ({ code, sealed: sealed.toString('hex') }));
  await tx`
    INSERT INTO visitor_keys (code, sealed)
    SELECT code, decode(sealed, 'hex') FROM jsonb_to_recordset(${tx.json(rows)}) AS k (code text, sealed text)`;
}

/** Deletes a code's key, without which the log does not show who scanned the code. */
export async function destroyVisitorKey(tx: Transaction, code: string): Promise<void> {
  // In this order: a process that encrypts the key concurrently moves it from the first table to the second.
  await tx`DELETE FROM unsealed_visitor_keys WHERE code = ${code}`;
  await tx`DELETE FROM visitor_keys WHERE code = ${code}`;
}

/** The keys of the codes that have one, decrypted. */
export async function readVisitorKeys(
  sql: Queryable,
  box: SecretBox,
  codes: string[],
): Promise<Map<string, Uint8Array>> {
  const rows = await sql<{ code: string; sealed: Uint8Array | null; unsealed: Uint8Array | null }[]>`
    SELECT code, sealed, NULL::bytea AS unsealed FROM visitor_keys WHERE code = ANY(${codes})
    UNION ALL
    SELECT code, NULL, key FROM unsealed_visitor_keys WHERE code = ANY(${codes})`;
  return new Map(
    rows.flatMap(({ code, sealed, unsealed }) => {
      const key = sealed === null ? unsealed : box.openVisitorKey(sealed, code);
      return key === null ? [] : [[code, key] as const];
    }),
  );
}
