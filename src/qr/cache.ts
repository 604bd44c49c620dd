import { ByteLru } from '../lib/byte-lru.ts';
import { Semaphore } from '../lib/semaphore.ts';

export interface ImageCache {
  /**
   * The cached image of a key, or the result of `draw`; concurrent calls for one key draw once. Rejects with `QueueFull`
   * if `maxWaiting` images are already queued.
   */
  get(key: string, draw: () => Promise<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>>;
  /** The size of the cached images and their overhead. */
  readonly bytes: number;
}

interface ImageCacheOptions {
  maxBytes: number;
  maxDrawing?: number;
  /** Drawing 128 of the largest images (2,048 px, round dots) takes 3 s; a request times out after 8 s. */
  maxWaiting?: number;
}

/**
 * An LRU cache of images with at most `maxBytes`. At most `maxDrawing` images are drawn at a time, so that a burst of
 * requests neither fills the memory nor uses every core.
 *
 * @example
 * const images = createImageCache({ maxBytes: 64 * 1024 * 1024 });
 * const png = await images.get(etag, () => drawPng(url, style, 512));
 */
export function createImageCache({ maxBytes, maxDrawing = 1, maxWaiting = 128 }: ImageCacheOptions): ImageCache {
  const cached = new ByteLru<Uint8Array<ArrayBuffer>>(maxBytes);
  const drawing = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  const slots = new Semaphore(maxDrawing, maxWaiting);

  async function drawAndStore(key: string, draw: () => Promise<Uint8Array<ArrayBuffer>>) {
    try {
      const image = await slots.run(draw);
      cached.set(key, image);
      return image;
    } finally {
      drawing.delete(key);
    }
  }

  return {
    get(key, draw) {
      const image = cached.get(key);
      if (image) return Promise.resolve(image);
      const inProgress = drawing.get(key);
      if (inProgress) return inProgress;
      const drawn = drawAndStore(key, draw);
      drawing.set(key, drawn);
      return drawn;
    },
    get bytes() {
      return cached.bytes;
    },
  };
}
