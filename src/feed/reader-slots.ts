import { Refusal, retryLater } from '../lib/errors.ts';
import { LimitPerKey } from '../lib/limit-per-key.ts';

/** Open streams and waiting requests of all accounts at this process. */
const maxReaders = 1_000;

/** Counts open streams and waiting requests of an account, of both modes together. */
export class ReaderSlots {
  readonly #accounts: LimitPerKey;
  #total = 0;

  constructor(maxPerAccount: number) {
    const message = `The account has ${maxPerAccount} open event streams and waiting requests, which is the limit: close one, or ask the operator to raise MAX_EVENT_STREAMS.`;
    this.#accounts = new LimitPerKey(
      maxPerAccount,
      () => new Refusal('rate_limited', message, undefined, { 'retry-after': '10' }),
    );
  }

  /** Takes a slot, which the returned function frees. Throws if the account, or this process, has none left. */
  take(account: string): () => void {
    const leave = this.#accounts.admit(account);
    if (this.#total >= maxReaders) {
      leave();
      throw retryLater('The service has too many open event streams and waiting requests: try again in 10 s.', 10);
    }
    this.#total++;
    return () => {
      leave();
      this.#total--;
    };
  }
}
