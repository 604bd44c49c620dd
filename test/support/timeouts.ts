import { configureGlobal } from 'fast-check';
import { afterAll, beforeAll, inject } from 'vitest';
import { setTimeouts, type Timeouts } from '../../src/lib/timeouts.ts';
import { patient, timeoutScale } from './limits.ts';

/**
 * Runs before every test file: no timeout of the service may decide a result because the machine is slow. Processes that
 * tests start inherit the variable.
 */
process.env['TIMEOUT_SCALE'] = String(timeoutScale);

setTimeouts(timeoutScale, patient);

// `./scanlog test --seed` repeats the values of properties, too.
configureGlobal({ seed: inject('seed') });

/** Sets timeouts for the tests of this file or `describe` that are about them. Call it before `useService`. */
export function useTimeouts(own: Partial<Timeouts>): void {
  beforeAll(() => setTimeouts(timeoutScale, { ...patient, ...own }));
  afterAll(() => setTimeouts(timeoutScale, patient));
}
