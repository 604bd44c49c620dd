import { serveJobs } from '../lib/worker-thread.ts';
import { examine } from './examine.ts';

/** The script of the proofing thread. */
serveJobs(examine);
