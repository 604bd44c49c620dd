import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const macBytes = 16;
const minBytes = 1 + macBytes + 1;
const pattern = /^[\w-]+$/;

/** The keys of one purpose, in hex. */
export interface SealerKeys {
  mac: string;
  cipher: string;
}

/** Derives the keys of a purpose, which reveal neither `key` nor the keys of another purpose. */
export function sealerKeys(key: Uint8Array, purpose: string): SealerKeys {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', key, 'scanlog', `${purpose} ${use}`, 32));
  return { mac: derive('authentication').toString('hex'), cipher: derive('encryption').toString('hex') };
}

/**
 * Converts bytes to texts that clients keep and send back, and that they can neither read, change nor use in another context.
 * The first byte of a text is the version of what it contains.
 *
 * The encryption is deterministic (the authentication code is the initialization vector, as in SIV), since the number of
 * texts is not bounded, as random vectors of AES-GCM would need it.
 *
 * @example
 * const sealer = new Sealer(sealerKeys(key, 'cursor'), 1);
 * sealer.open('acct_1/live', sealer.seal('acct_1/live', bytes)); // bytes
 * sealer.open('acct_2/live', sealer.seal('acct_1/live', bytes)); // undefined
 */
export class Sealer {
  readonly #macKey: Buffer;
  readonly #cipherKey: Buffer;
  readonly #version: number;

  constructor({ mac, cipher }: SealerKeys, version: number) {
    this.#macKey = Buffer.from(mac, 'hex');
    this.#cipherKey = Buffer.from(cipher, 'hex');
    this.#version = version;
  }

  seal(context: string, plain: Uint8Array): string {
    const mac = this.#macOf(context, plain);
    const encrypted = createCipheriv('aes-256-ctr', this.#cipherKey, mac).update(plain);
    return Buffer.concat([Buffer.of(this.#version), mac, encrypted]).toString('base64url');
  }

  /** The bytes of a text; undefined if it was not sealed with this key for this context. */
  open(context: string, text: string): Buffer | undefined {
    if (!pattern.test(text)) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length < minBytes || bytes[0] !== this.#version) return undefined;
    const mac = bytes.subarray(1, 1 + macBytes);
    const plain = createDecipheriv('aes-256-ctr', this.#cipherKey, mac).update(bytes.subarray(1 + macBytes));
    return timingSafeEqual(this.#macOf(context, plain), mac) ? plain : undefined;
  }

  #macOf(context: string, plain: Uint8Array): Buffer {
    const mac = createHmac('sha256', this.#macKey).update(`${this.#version}/${context}/`).update(plain);
    return mac.digest().subarray(0, macBytes);
  }
}
