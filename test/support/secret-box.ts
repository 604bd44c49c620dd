import { createSecretBox } from '../../src/lib/secret-box.ts';

/** Of every service in tests. */
export const testSecretKey = 'the-secret-key-of-all-services-in-tests';
export const testBox = createSecretBox(testSecretKey);
