import { Semaphore } from './semaphore.ts';

/** A hash takes 64 MiB and about 80 ms of a core, on a thread of its own. */
const maxAtOnce = 2;
const maxWaiting = 64;

/** Hashes and compares passwords with argon2id, two at a time. More than 64 that wait are refused with `QueueFull`. */
export class Passwords {
  readonly #slots = new Semaphore(maxAtOnce, maxWaiting);

  hash(password: string): Promise<string> {
    return this.#slots.run(() => Bun.password.hash(password, 'argon2id'));
  }

  isEqual(password: string, hash: string): Promise<boolean> {
    return this.#slots.run(() => Bun.password.verify(password, hash, 'argon2id'));
  }
}
