import { drawPicture, type Picture } from './picture.ts';

/** Draws one picture after the other, in a thread of its own. */

declare const self: Worker;

self.onmessage = async ({ data: { id, picture } }: MessageEvent<{ id: number; picture: Picture }>) => {
  try {
    const bytes = await drawPicture(picture);
    self.postMessage({ id, bytes }, [bytes.buffer]);
  } catch (error) {
    self.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
