import { retryLater } from './errors.ts';
import { QueueFull, Semaphore } from './semaphore.ts';

/** A hash takes 20 MB and 50 to 100 ms in a thread of its own; more than two at once would take the CPU from redirects. */
const hashing = new Semaphore(2, 64);
const argon2id = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/** Throws 503 if many others are being hashed. */
export const hashPassword = (password: string): Promise<string> =>
  hashing
    .run(() => Bun.password.hash(password, argon2id))
    .catch((error) => {
      throw error instanceof QueueFull ? retryLater('Many passwords are being checked: try again in a moment.') : error;
    });

/** Throws `QueueFull` if many others are being compared, and an error if the hash cannot be read. */
export const isPassword = (password: string, hash: string): Promise<boolean> =>
  hashing.run(() => Bun.password.verify(password, hash));
