import { createWorkerThread } from '../lib/worker-thread.ts';
import type { Picture } from './picture.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export interface Drawing {
  /** Rejects with a `RangeError` for a size or a style that cannot be drawn. */
  draw(picture: Picture): Promise<Bytes>;
  close(): Promise<void>;
}

const defaultScript = new URL('./draw-worker.ts', import.meta.url);

/** Draws in a worker thread, so that large pictures do not delay redirects. */
export function createDrawing(script = defaultScript): Drawing {
  const { run, close } = createWorkerThread<Picture, Bytes>(script);
  return { draw: (picture) => run(picture), close };
}
