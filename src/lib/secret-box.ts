import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { type Owner, ownerKey } from '../../events/owner.ts';

/** Everything that depends on SECRET_KEY. The key itself is never stored in the database. */
export interface SecretBox {
  /** Encrypts a webhook's signing secret for one account and mode; under any other it cannot be opened. */
  seal(secret: string, owner: Owner): string;
  open(sealed: string, owner: Owner): string;
  /** Encrypts the key under which a code's visitors are hashed; for any other code it cannot be opened. */
  sealVisitorKey(key: Uint8Array, code: string): Buffer;
  openVisitorKey(sealed: Uint8Array, code: string): Buffer;
  /** The key under which client addresses are hashed for rate limits and log lines. */
  clientAddressKey: Buffer;
  /** The same text gives the same token on every instance; without the key, equality is all it reveals. */
  tokenOf(text: string): string;
  /** The same for all instances with the same key, which cannot be computed from it. */
  fingerprint: Buffer;
}

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
const textVersion = 'v1';
const bytesVersion = 1;

const derive = (secretKey: string, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secretKey, 'scanlog', purpose, 32));

export function createSecretBox(secretKey: string): SecretBox {
  const webhookKey = derive(secretKey, 'webhook secrets');
  const visitorKeysKey = derive(secretKey, 'visitor keys');
  const tokenKey = derive(secretKey, 'tokens');
  return {
    tokenOf: (text) => createHmac('sha256', tokenKey).update(text).digest('base64url').slice(0, 22),
    fingerprint: derive(secretKey, 'fingerprint'),
    clientAddressKey: derive(secretKey, 'client addresses'),
    seal: (secret, owner) =>
      `${textVersion}.${encrypt(webhookKey, Buffer.from(secret), ownerKey(owner)).toString('base64url')}`,
    open(text, owner) {
      if (!text.startsWith(`${textVersion}.`)) throw new Error('the secret is sealed in an unknown format');
      const sealed = Buffer.from(text.slice(textVersion.length + 1), 'base64url');
      return decrypt(webhookKey, sealed, ownerKey(owner)).toString('utf8');
    },
    sealVisitorKey: (key, code) => Buffer.concat([Buffer.of(bytesVersion), encrypt(visitorKeysKey, key, code)]),
    openVisitorKey(sealed, code) {
      if (sealed[0] !== bytesVersion) throw new Error(`the visitor key of ${code} is sealed in an unknown format`);
      return decrypt(visitorKeysKey, sealed.subarray(1), code);
    },
  };
}

/** A random IV, the tag and the ciphertext; `context` is authenticated and not stored. */
function encrypt(key: Buffer, plain: Uint8Array, context: string): Buffer {
  const iv = randomBytes(ivBytes);
  const encrypting = createCipheriv(cipher, key, iv).setAAD(Buffer.from(context));
  const encrypted = Buffer.concat([encrypting.update(plain), encrypting.final()]);
  return Buffer.concat([iv, encrypting.getAuthTag(), encrypted]);
}

function decrypt(key: Buffer, sealed: Uint8Array, context: string): Buffer {
  const decrypting = createDecipheriv(cipher, key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decrypting.update(sealed.subarray(ivBytes + tagBytes)), decrypting.final()]);
}
