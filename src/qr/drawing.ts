import { Worker } from 'node:worker_threads';
import type { Picture } from './picture.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export interface Drawing {
  /** Rejects with a `RangeError` for a size or a style that cannot be drawn. */
  draw(picture: Picture): Promise<Bytes>;
  close(): Promise<void>;
}

type Drawn = { id: number } & ({ bytes: Bytes } | { error: { isRange: boolean; message: string } });

/** Draws in a thread of its own, begun with the first picture: redirects do not wait for a large one. */
export function createDrawing(): Drawing {
  let worker: Worker | undefined;
  let last = 0;
  const open = new Map<number, { resolve(bytes: Bytes): void; reject(error: unknown): void }>();

  function start(): Worker {
    const started = new Worker(new URL('./draw-worker.ts', import.meta.url));
    // An idle thread keeps no process alive.
    started.unref();
    started.on('message', (drawn: Drawn) => {
      const waiting = open.get(drawn.id);
      open.delete(drawn.id);
      if ('bytes' in drawn) waiting?.resolve(drawn.bytes);
      else waiting?.reject(new (drawn.error.isRange ? RangeError : Error)(drawn.error.message));
    });
    started.on('error', (error) => {
      worker = undefined;
      for (const { reject } of open.values()) reject(error);
      open.clear();
    });
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
    async close() {
      await worker?.terminate();
    },
  };
}
