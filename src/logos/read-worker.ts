import { serveJobs } from '../lib/worker-thread.ts';
import { type ReadLogo, readLogo } from './read-logo.ts';

/** The script of the thread that reads uploaded pictures. */
serveJobs<Uint8Array, ReadLogo>(readLogo);
