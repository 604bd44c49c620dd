import { serveJobs } from '../../src/lib/worker-thread.ts';
import { drawPicture, type Picture } from '../../src/qr/picture.ts';

/** A drawing thread that draws PNG, and exits without an error if an SVG is requested. */
serveJobs<Picture, Uint8Array>(async (picture) => {
  if (picture.format === 'svg') process.exit(0);
  return drawPicture(picture);
});
