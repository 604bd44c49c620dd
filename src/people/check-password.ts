import { retryLater } from '../lib/errors.ts';
import { hashPassword, isPassword } from '../lib/passwords.ts';
import { QueueFull } from '../lib/semaphore.ts';
import type { User } from './users.ts';

/** Of no one: comparing with it takes as long as with the hash of a person. */
let dummyHash: Promise<string> | undefined;

/** Whether the password is the person's. Takes as long without a person or a password. Throws 503 if many are being compared. */
export async function checkPassword(user: User | undefined, password: string): Promise<boolean> {
  dummyHash ??= hashPassword('no one has this password').catch((error) => {
    dummyHash = undefined;
    throw error;
  });
  const [dummy, own] = [await dummyHash, user?.password_hash ?? null];
  try {
    return (await isPassword(password, own ?? dummy)) && own !== null;
  } catch (error) {
    throw error instanceof QueueFull ? retryLater('Many people are signing in: try again in a moment.') : error;
  }
}
