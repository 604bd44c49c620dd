import type { Style } from '../../events/style.ts';
import { lru } from '../lib/lru.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { createWorkerThread } from '../lib/worker-thread.ts';
import type { LogoArt } from '../qr/logo-art.ts';
import { lookOf } from '../qr/style.ts';
import type { Proof, ProofRequest } from './proof.ts';

export interface Proofs {
  /**
   * The proof of a style for short URLs as long as this one; `logo` is the picture of `style.logo`. Rejects with
   * `QueueFull` if `maxWaiting` proofs are already queued.
   */
  of(style: Style, url: string, logo?: LogoArt): Promise<Proof>;
  close(): Promise<void>;
}

/** 32 proofs take 5 s; a request times out after 8 s. */
const defaultMaxWaiting = 32;
/** About 1 KB each. */
const maxCached = 2_000;
/** The decoders and the rasterizer take about 60 MB. */
const idleMs = 60_000;

const script = new URL('./proof-worker.ts', import.meta.url);

/**
 * Proofs styles in a worker thread, which starts with the first proof and ends when it is idle. Codes of one style whose
 * short links are equally long share a proof: the number of modules depends on the length alone.
 */
export function createProofs({ maxWaiting = defaultMaxWaiting } = {}): Proofs {
  const thread = createWorkerThread<ProofRequest, Proof>(script, { idleMs });
  const slots = new Semaphore(1, maxWaiting);
  const cached = lru<string, Proof>(maxCached);
  const running = new Map<string, Promise<Proof>>();

  async function run(key: string, request: ProofRequest): Promise<Proof> {
    try {
      const proof = await slots.run(() => thread.run(request));
      cached.set(key, proof);
      return proof;
    } finally {
      running.delete(key);
    }
  }

  return {
    async of(style, url, logo) {
      const request = { style, url: representativeOf(url), logo };
      const key = JSON.stringify([Object.entries(lookOf(style)).sort(), request.url]);
      const known = cached.get(key) ?? running.get(key);
      if (known !== undefined) return known;
      const proof = run(key, request);
      running.set(key, proof);
      return proof;
    },
    close: thread.close,
  };
}

const filler = 'aB3xY7zKq9Rm4TdW2vNp';

/** A short URL of the same length for all short codes of one length. */
export function representativeOf(url: string): string {
  const at = url.lastIndexOf('/') + 1;
  return url.slice(0, at) + filler.repeat(3).slice(0, url.length - at);
}
