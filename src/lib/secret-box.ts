import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { type EndpointKey, endpointKey } from '../../events/webhooks/endpoint.ts';

/** All operations that use SECRET_KEY. The key is never stored in the database. */
export interface SecretBox {
  /** Encrypts a webhook's signing secret. It can be decrypted only for the same webhook. */
  seal(secret: string, key: EndpointKey): string;
  open(sealed: string, key: EndpointKey): string;
  /** Encrypts the key of a code's visitor hashes. It can be decrypted only for the same code. */
  sealVisitorKey(key: Uint8Array, code: string): Buffer;
  openVisitorKey(sealed: Uint8Array, code: string): Buffer;
  /** The key for hashing client addresses in rate limits and log entries. */
  clientAddressKey: Buffer;
  /** Returns the same token for the same text on every instance. Without the key, a token reveals only equality. */
  tokenOf(text: string): string;
  /** What the service answers at the address of a custom domain's proof: only this service can compute it from the token. */
  domainProofOf(token: string): string;
  /** Identifies SECRET_KEY without revealing it. */
  fingerprint: Buffer;
}

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
const textVersion = 'v1';
const bytesVersion = 1;

const derive = (secretKey: string, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secretKey, 'scanlog', purpose, 32));

/**
 * Derives the keys of all operations from SECRET_KEY, which takes a few HMACs: create one box for a process.
 *
 * @example
 * const box = createSecretBox(config.secretKey);
 * const sealed = box.seal('whsec_…', { account: 'acct_1', webhook: 'wh_1' });
 * box.open(sealed, { account: 'acct_1', webhook: 'wh_1' }); // 'whsec_…'
 * box.open(sealed, { account: 'acct_1', webhook: 'wh_2' }); // throws
 */
export function createSecretBox(secretKey: string): SecretBox {
  const webhookKey = derive(secretKey, 'webhook secrets');
  const visitorKeysKey = derive(secretKey, 'visitor keys');
  const tokenKey = derive(secretKey, 'tokens');
  const domainProofKey = derive(secretKey, 'domain proofs');
  return {
    tokenOf: (text) => createHmac('sha256', tokenKey).update(text).digest('base64url').slice(0, 22),
    domainProofOf: (token) => createHmac('sha256', domainProofKey).update(token).digest('hex'),
    fingerprint: derive(secretKey, 'fingerprint'),
    clientAddressKey: derive(secretKey, 'client addresses'),
    seal: (secret, key) =>
      `${textVersion}.${encrypt(webhookKey, Buffer.from(secret), endpointKey(key)).toString('base64url')}`,
    open(text, key) {
      if (!text.startsWith(`${textVersion}.`)) throw new Error('the webhook secret is encrypted in an unknown format');
      const sealed = Buffer.from(text.slice(textVersion.length + 1), 'base64url');
      return decrypt(webhookKey, sealed, endpointKey(key)).toString('utf8');
    },
    sealVisitorKey: (key, code) => Buffer.concat([Buffer.of(bytesVersion), encrypt(visitorKeysKey, key, code)]),
    openVisitorKey(sealed, code) {
      if (sealed[0] !== bytesVersion) throw new Error(`the visitor key of ${code} is encrypted in an unknown format`);
      return decrypt(visitorKeysKey, sealed.subarray(1), code);
    },
  };
}

/** Returns a random IV, the tag and the ciphertext. `context` is authenticated but not stored. */
export function encrypt(key: Buffer, plain: Uint8Array, context: string): Buffer {
  const iv = randomBytes(ivBytes);
  const encrypting = createCipheriv(cipher, key, iv).setAAD(Buffer.from(context));
  const encrypted = Buffer.concat([encrypting.update(plain), encrypting.final()]);
  return Buffer.concat([iv, encrypting.getAuthTag(), encrypted]);
}

/** The bytes that `encrypt` was given; throws for another key or context. */
export function decrypt(key: Buffer, sealed: Uint8Array, context: string): Buffer {
  const decrypting = createDecipheriv(cipher, key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decrypting.update(sealed.subarray(ivBytes + tagBytes)), decrypting.final()]);
}
