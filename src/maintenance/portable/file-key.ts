import { createHash, randomBytes } from 'node:crypto';
import { decrypt, encrypt } from '../../lib/secret-box.ts';

const keyBytes = 32;

/** Encrypts the secrets in an account file. The key is printed once and is not in the file. */
export interface FileKey {
  /** As it is printed and given. */
  text: string;
  /** Tells whether a key belongs to a file. */
  fingerprint: string;
  seal(plain: string, account: string): string;
  open(sealed: string, account: string): string;
}

export const newFileKey = (): FileKey => fileKeyOf(randomBytes(keyBytes).toString('base64url')) as FileKey;

/** Undefined if the text cannot be a key. */
export function fileKeyOf(text: string): FileKey | undefined {
  const key = Buffer.from(text.trim(), 'base64url');
  if (key.length !== keyBytes) return undefined;
  return {
    text: key.toString('base64url'),
    fingerprint: createHash('sha256').update('scanlog account file ').update(key).digest('hex').slice(0, 32),
    seal: (plain, account) => encrypt(key, Buffer.from(plain), account).toString('base64url'),
    open: (sealed, account) => decrypt(key, Buffer.from(sealed, 'base64url'), account).toString('utf8'),
  };
}
