import { serveJobs } from '../lib/worker-thread.ts';
import { drawPicture, type Picture } from './picture.ts';

/** The script of the drawing thread. */
serveJobs<Picture, Uint8Array<ArrayBuffer>>(drawPicture, (bytes) => [bytes.buffer]);
