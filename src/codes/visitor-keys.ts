import { randomBytes } from 'node:crypto';
import type { Transaction } from '../log/connect.ts';

/** 32 random bytes for each new code. They are in no event: what the log holds must not be enough to find a visitor. */
export async function giveVisitorKeys(tx: Transaction, codes: string[]): Promise<void> {
  const rows = codes.map((code) => ({ code, key: randomBytes(32).toString('hex') }));
  await tx`
    INSERT INTO visitor_keys (code, key)
    SELECT code, decode(key, 'hex') FROM jsonb_to_recordset(${tx.json(rows)}) AS k (code text, key text)`;
}

/** From then on, nobody can tell whose scans the log holds. */
export async function destroyVisitorKey(tx: Transaction, code: string): Promise<void> {
  await tx`DELETE FROM visitor_keys WHERE code = ${code}`;
}
