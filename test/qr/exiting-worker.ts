import { parentPort } from 'node:worker_threads';
import { drawPicture, type Picture } from '../../src/qr/picture.ts';

/** A drawing thread that draws PNG, and exits without an error if an SVG is requested. */
parentPort?.on('message', async ({ id, picture }: { id: number; picture: Picture }) => {
  if (picture.format === 'svg') process.exit(0);
  const bytes = await drawPicture(picture);
  parentPort?.postMessage({ id, bytes });
});
