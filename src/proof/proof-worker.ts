import { answerRequests } from '../lib/thread-script.ts';
import { examine } from './examine.ts';

/** The script of the proofing thread. */
answerRequests(examine);
