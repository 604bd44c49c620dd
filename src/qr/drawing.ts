import { Worker } from 'node:worker_threads';
import type { Picture } from './picture.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export interface Drawing {
  /** Rejects with a `RangeError` for a size or a style that cannot be drawn. */
  draw(picture: Picture): Promise<Bytes>;
  close(): Promise<void>;
}

type Drawn = { id: number } & ({ bytes: Bytes } | { error: { isRange: boolean; message: string } });

interface Thread {
  worker: Worker;
  /** Pending requests by id. */
  jobs: Map<number, { resolve(bytes: Bytes): void; reject(error: unknown): void }>;
}

const defaultScript = new URL('./draw-worker.ts', import.meta.url);

/**
 * Draws in a worker thread, started with the first picture, so that large pictures do not delay redirects. If the
 * thread fails or exits, its pending pictures are rejected and the next picture starts a new thread.
 */
export function createDrawing(script = defaultScript): Drawing {
  let current: Thread | undefined;
  let lastId = 0;

  function start(): Thread {
    const worker = new Worker(script);
    const thread: Thread = { worker, jobs: new Map() };
    // An idle thread must not keep the process alive.
    worker.unref();
    worker.on('message', (drawn: Drawn) => {
      const job = thread.jobs.get(drawn.id);
      thread.jobs.delete(drawn.id);
      if ('bytes' in drawn) job?.resolve(drawn.bytes);
      else job?.reject(new (drawn.error.isRange ? RangeError : Error)(drawn.error.message));
    });
    const end = (error: Error) => {
      if (current === thread) current = undefined;
      for (const { reject } of thread.jobs.values()) reject(error);
      thread.jobs.clear();
    };
    worker.on('error', end);
    // A thread can also exit without an error, for example when it runs out of memory.
    worker.on('exit', (code) => end(new Error(`the drawing thread exited with code ${code}`)));
    return thread;
  }

  return {
    draw: (picture) =>
      new Promise((resolve, reject) => {
        current ??= start();
        const id = ++lastId;
        current.jobs.set(id, { resolve, reject });
        current.worker.postMessage({ id, picture });
      }),
    async close() {
      await current?.worker.terminate();
    },
  };
}
