/** More images wait to be drawn than can be drawn soon. */
export class QueueFull extends Error {}

export interface ImageCache {
  /**
   * The image kept under a key, or the one that `draw` makes; however many ask at once, it is drawn once. Rejects with
   * `QueueFull` when `maxWaiting` others wait to be drawn.
   */
  get(key: string, draw: () => Promise<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>>;
  /** Bytes kept. */
  readonly bytes: number;
}

interface ImageCacheOptions {
  maxBytes: number;
  maxDrawing?: number;
  /** 128 of the largest (2,048 px, round dots) take 3 s to draw; an answer may take 8 s. */
  maxWaiting?: number;
}

/** What an entry costs beside its bytes, roughly: without it, many tiny images would be free. */
const ENTRY_OVERHEAD = 256;

/**
 * Keeps images in memory up to `maxBytes`, dropping those that were asked for longest ago. At most `maxDrawing`
 * different images are drawn at a time, so that a burst of requests neither fills the memory nor takes every core; one
 * at a time is a hundred of the largest a second.
 *
 * @example
 * const images = createImageCache({ maxBytes: 64 * 1024 * 1024 });
 * const png = await images.get(etag, () => drawPng(url, style, 512));
 */
export function createImageCache({ maxBytes, maxDrawing = 1, maxWaiting = 128 }: ImageCacheOptions): ImageCache {
  // A Map keeps the order of insertion, so the first entry is the one that was used longest ago.
  const kept = new Map<string, Uint8Array<ArrayBuffer>>();
  const drawing = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  const waiting: (() => void)[] = [];
  let busy = 0;
  let bytes = 0;

  function keep(key: string, image: Uint8Array<ArrayBuffer>) {
    const cost = costOf(key, image);
    if (cost > maxBytes) return;
    kept.set(key, image);
    bytes += cost;
    for (const [oldKey, oldImage] of kept) {
      if (bytes <= maxBytes) break;
      kept.delete(oldKey);
      bytes -= costOf(oldKey, oldImage);
    }
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    // A place that becomes free is handed to the first in line, so nobody can slip in between.
    if (busy < maxDrawing) busy++;
    else if (waiting.length >= maxWaiting) throw new QueueFull(`${maxWaiting} images wait to be drawn`);
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else busy--;
    }
  }

  async function drawAndKeep(key: string, draw: () => Promise<Uint8Array<ArrayBuffer>>) {
    try {
      const image = await inTurn(draw);
      keep(key, image);
      return image;
    } finally {
      drawing.delete(key);
    }
  }

  return {
    get(key, draw) {
      const image = kept.get(key);
      if (image) {
        kept.delete(key);
        kept.set(key, image);
        return Promise.resolve(image);
      }
      const underway = drawing.get(key);
      if (underway) return underway;
      const drawn = drawAndKeep(key, draw);
      drawing.set(key, drawn);
      return drawn;
    },
    get bytes() {
      return bytes;
    },
  };
}

function costOf(key: string, image: Uint8Array): number {
  return image.byteLength + key.length + ENTRY_OVERHEAD;
}
