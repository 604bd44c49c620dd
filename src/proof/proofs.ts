import type { Style } from '../../events/style.ts';
import { lru } from '../lib/lru.ts';
import { byteLength } from '../qr/capacity.ts';
import type { LogoArt } from '../qr/logo-art.ts';
import { lookOf } from '../qr/style.ts';
import type { Proof, ProofRequest, ProofSubject } from './proof.ts';

export interface Proofs {
  /**
   * The proof of a style for short URLs, or contents of static codes, as long as this one, for an account; `logo` is the image
   * of `style.logo`.
   */
  of(account: string, style: Style, url: string, logo?: LogoArt, about?: ProofSubject): Promise<Proof>;
}

/** About 1 KB each. */
const maxCached = 2_000;

/**
 * Caches the proofs of styles. Codes of one style whose short links are equally long share a proof: the number of modules
 * depends on the length alone.
 */
export function createProofs(prove: (request: ProofRequest, account: string) => Promise<Proof>): Proofs {
  const cached = lru<string, Proof>(maxCached);
  const running = new Map<string, Promise<Proof>>();

  async function run(key: string, request: ProofRequest, account: string): Promise<Proof> {
    try {
      const proof = await prove(request, account);
      cached.set(key, proof);
      return proof;
    } finally {
      running.delete(key);
    }
  }

  return {
    async of(account, style, url, logo, about = 'link') {
      const text = about === 'link' ? representativeOf(url) : filled(byteLength(url));
      const request = { style, url: text, about, logo };
      const key = JSON.stringify([Object.entries(lookOf(style)).sort(), about === 'link' ? text : text.length]);
      const known = cached.get(key) ?? running.get(key);
      if (known !== undefined) return known;
      const proof = run(key, request, account);
      running.set(key, proof);
      return proof;
    },
  };
}

const filler = 'aB3xY7zKq9Rm4TdW2vNp';

/** In place of contents of this length, which are not kept. */
const filled = (length: number) => filler.repeat(Math.ceil(length / filler.length)).slice(0, length);

/** A short URL of the same length for all short codes of one length. */
export function representativeOf(url: string): string {
  const at = url.lastIndexOf('/') + 1;
  return url.slice(0, at) + filled(url.length - at);
}
