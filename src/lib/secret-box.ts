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
  /** Encrypts the secret of a person's one-time codes. It can be decrypted only for the same person. */
  sealTotpSecret(secret: string, user: string): string;
  openTotpSecret(sealed: string, user: string): string;
  /** The key of what a browser carries between two requests of a sign-in. */
  stepKey: Buffer;
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
  const totpKey = derive(secretKey, 'one-time codes');
  const tokenKey = derive(secretKey, 'tokens');
  const domainProofKey = derive(secretKey, 'domain proofs');
  return {
    tokenOf: (text) => createHmac('sha256', tokenKey).update(text).digest('base64url').slice(0, 22),
    domainProofOf: (token) => createHmac('sha256', domainProofKey).update(token).digest('hex'),
    fingerprint: derive(secretKey, 'fingerprint'),
    stepKey: derive(secretKey, 'steps of sign-ins'),
    clientAddressKey: derive(secretKey, 'client addresses'),
    seal: (secret, key) => sealText(webhookKey, secret, endpointKey(key)),
    open: (sealed, key) => openText(webhookKey, sealed, endpointKey(key)),
    sealTotpSecret: (secret, user) => sealText(totpKey, secret, user),
    openTotpSecret: (sealed, user) => openText(totpKey, sealed, user),
    sealVisitorKey: (key, code) => Buffer.concat([Buffer.of(bytesVersion), encrypt(visitorKeysKey, key, code)]),
    openVisitorKey(sealed, code) {
      if (sealed[0] !== bytesVersion) throw new Error(`the visitor key of ${code} is encrypted in an unknown format`);
      return decrypt(visitorKeysKey, sealed.subarray(1), code);
    },
  };
}

const sealText = (key: Buffer, secret: string, context: string): string =>
  `${textVersion}.${encrypt(key, Buffer.from(secret), context).toString('base64url')}`;

function openText(key: Buffer, text: string, context: string): string {
  if (!text.startsWith(`${textVersion}.`))
    throw new Error(`the secret of ${context} is encrypted in an unknown format`);
  const sealed = Buffer.from(text.slice(textVersion.length + 1), 'base64url');
  return decrypt(key, sealed, context).toString('utf8');
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
