import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Signing secrets in the two forms they have: for their account, and for the database. */
export interface SecretBox {
  /** Encrypts a secret for one account and mode; under any other it cannot be opened. */
  seal(secret: string, owner: Owner): string;
  open(sealed: string, owner: Owner): string;
  /** The same text gives the same token on every instance; who has no key learns nothing from it but that. */
  tokenOf(text: string): string;
  /** The same for all instances that have the same key, and of no use to find it. */
  fingerprint: Buffer;
}

interface Owner {
  account: string;
  mode: string;
}

const cipher = 'aes-256-gcm';
const version = 'v1';

const derive = (secretKey: string, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secretKey, 'scanlog', purpose, 32));

export function createSecretBox(secretKey: string): SecretBox {
  const key = derive(secretKey, 'webhook secrets');
  const tokenKey = derive(secretKey, 'tokens');
  const boundTo = ({ account, mode }: Owner) => Buffer.from(`${account}/${mode}`);
  return {
    tokenOf: (text) => createHmac('sha256', tokenKey).update(text).digest('base64url').slice(0, 22),
    fingerprint: derive(secretKey, 'fingerprint'),
    seal(secret, owner) {
      const iv = randomBytes(12);
      const sealing = createCipheriv(cipher, key, iv).setAAD(boundTo(owner));
      const sealed = Buffer.concat([sealing.update(secret, 'utf8'), sealing.final()]);
      return `${version}.${Buffer.concat([iv, sealing.getAuthTag(), sealed]).toString('base64url')}`;
    },
    open(text, owner) {
      if (!text.startsWith(`${version}.`)) throw new Error('this secret is sealed in a way that is not known');
      const bytes = Buffer.from(text.slice(version.length + 1), 'base64url');
      const opening = createDecipheriv(cipher, key, bytes.subarray(0, 12))
        .setAAD(boundTo(owner))
        .setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([opening.update(bytes.subarray(28)), opening.final()]).toString('utf8');
    },
  };
}

/** `whsec_` and 256 random bits in base64, as Standard Webhooks writes them. */
export const newSigningSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
