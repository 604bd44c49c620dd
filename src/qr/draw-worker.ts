import { parentPort } from 'node:worker_threads';
import { drawPicture, type Picture } from './picture.ts';

/** The script of the drawing thread. */
parentPort?.on('message', async ({ id, picture }: { id: number; picture: Picture }) => {
  try {
    const bytes = await drawPicture(picture);
    parentPort?.postMessage({ id, bytes }, [bytes.buffer]);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    parentPort?.postMessage({ id, error: { isRange: name === 'RangeError', message } });
  }
});
