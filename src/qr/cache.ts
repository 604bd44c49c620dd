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

/** The approximate overhead of an entry, so that tiny images count too. */
const entryOverheadBytes = 256;

/**
 * An LRU cache of images with at most `maxBytes`. At most `maxDrawing` images are drawn at a time, so that a burst of
 * requests neither fills the memory nor uses every core.
 *
 * @example
 * const images = createImageCache({ maxBytes: 64 * 1024 * 1024 });
 * const png = await images.get(etag, () => drawPng(url, style, 512));
 */
export function createImageCache({ maxBytes, maxDrawing = 1, maxWaiting = 128 }: ImageCacheOptions): ImageCache {
  // A Map iterates in insertion order, so the first entry is the least recently used.
  const cached = new Map<string, Uint8Array<ArrayBuffer>>();
  const drawing = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  const slots = new Semaphore(maxDrawing, maxWaiting);
  let bytes = 0;

  function store(key: string, image: Uint8Array<ArrayBuffer>) {
    const cost = costOf(key, image);
    if (cost > maxBytes) return;
    cached.set(key, image);
    bytes += cost;
    for (const [oldKey, oldImage] of cached) {
      if (bytes <= maxBytes) break;
      cached.delete(oldKey);
      bytes -= costOf(oldKey, oldImage);
    }
  }

  async function drawAndStore(key: string, draw: () => Promise<Uint8Array<ArrayBuffer>>) {
    try {
      const image = await slots.run(draw);
      store(key, image);
      return image;
    } finally {
      drawing.delete(key);
    }
  }

  return {
    get(key, draw) {
      const image = cached.get(key);
      if (image) {
        cached.delete(key);
        cached.set(key, image);
        return Promise.resolve(image);
      }
      const inProgress = drawing.get(key);
      if (inProgress) return inProgress;
      const drawn = drawAndStore(key, draw);
      drawing.set(key, drawn);
      return drawn;
    },
    get bytes() {
      return bytes;
    },
  };
}

function costOf(key: string, image: Uint8Array): number {
  return image.byteLength + key.length + entryOverheadBytes;
}
