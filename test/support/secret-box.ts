import { createSecretBox } from '../../src/lib/secret-box.ts';

/** The SECRET_KEY of every service in tests. */
export const testSecretKey = 'the-secret-key-of-all-services-in-tests';
export const testBox = createSecretBox(testSecretKey);
