import { ByteLru } from '../lib/byte-lru.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export interface ImageCache {
  /**
   * The cached image of a key, or the result of `draw`; concurrent calls for one key draw once. The signal of `draw` aborts
   * when the signals of all these calls have.
   */
  get(key: string, draw: (signal: AbortSignal) => Promise<Bytes>, signal?: AbortSignal): Promise<Bytes>;
  /** The size of the cached images and their overhead. */
  readonly bytes: number;
}

interface InProgress {
  image: Promise<Bytes>;
  abort: AbortController;
  /** Calls whose signal has not aborted. */
  calls: number;
}

/**
 * An LRU cache of images with at most `maxBytes`.
 *
 * @example
 * const images = createImageCache({ maxBytes: 64 * 1024 * 1024 });
 * const png = await images.get(etag, () => drawPng(url, style, 512));
 */
export function createImageCache({ maxBytes }: { maxBytes: number }): ImageCache {
  const cached = new ByteLru<Bytes>(maxBytes);
  const drawing = new Map<string, InProgress>();

  function start(key: string, draw: (signal: AbortSignal) => Promise<Bytes>): InProgress {
    const abort = new AbortController();
    const image = draw(abort.signal)
      .then((bytes) => {
        cached.set(key, bytes);
        return bytes;
      })
      .finally(() => {
        if (drawing.get(key) === started) drawing.delete(key);
      });
    const started = { image, abort, calls: 0 };
    drawing.set(key, started);
    return started;
  }

  function join(key: string, inProgress: InProgress, signal: AbortSignal | undefined): Promise<Bytes> {
    inProgress.calls++;
    const leave = () => {
      if (--inProgress.calls > 0) return;
      // The next call draws it again.
      if (drawing.get(key) === inProgress) drawing.delete(key);
      inProgress.abort.abort(signal?.reason);
    };
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, { once: true });
    return inProgress.image.finally(() => signal?.removeEventListener('abort', leave));
  }

  return {
    async get(key, draw, signal) {
      return cached.get(key) ?? join(key, drawing.get(key) ?? start(key, draw), signal);
    },
    get bytes() {
      return cached.bytes;
    },
  };
}
