import { setTimeouts, type Timeouts } from '../../src/lib/timeouts.ts';
import { patient, timeoutScale } from './limits.ts';

/**
 * Runs one test that is about a timeout with that timeout; the other tests of the file have long ones. Only for timeouts
 * that are read when they are needed, not when the service starts.
 */
export async function withTimeouts<T>(own: Partial<Timeouts>, run: () => Promise<T>): Promise<T> {
  setTimeouts(timeoutScale, { ...patient, ...own });
  try {
    return await run();
  } finally {
    setTimeouts(timeoutScale, patient);
  }
}
