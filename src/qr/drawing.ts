import type { Picture } from './picture.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export interface Drawing {
  /** Rejects with a `RangeError` for a size or a style that cannot be drawn. */
  draw(picture: Picture): Promise<Bytes>;
  close(): void;
}

interface Drawn {
  id: number;
  bytes?: Bytes;
  error?: string;
}

/** Draws in a thread of its own, begun with the first picture: redirects do not wait for a large one. */
export function createDrawing(): Drawing {
  let worker: Worker | undefined;
  let last = 0;
  const open = new Map<number, { resolve(bytes: Bytes): void; reject(error: Error): void }>();

  function start(): Worker {
    const started = new Worker(new URL('./draw-worker.ts', import.meta.url));
    started.onmessage = ({ data: { id, bytes, error } }: MessageEvent<Drawn>) => {
      const waiting = open.get(id);
      open.delete(id);
      if (bytes !== undefined) waiting?.resolve(bytes);
      else waiting?.reject(new RangeError(error));
    };
    started.onerror = ({ message }) => {
      worker = undefined;
      for (const { reject } of open.values()) reject(new Error(`the drawing thread has died: ${message}`));
      open.clear();
    };
    return started;
  }

  return {
    draw: (picture) =>
      new Promise((resolve, reject) => {
        worker ??= start();
        const id = ++last;
        open.set(id, { resolve, reject });
        worker.postMessage({ id, picture });
      }),
    close: () => worker?.terminate(),
  };
}
