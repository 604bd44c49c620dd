import type { AccountEvent } from '../../events/account.ts';
import { type Actor, type Recorded, service } from '../../events/recorded.ts';
import type { Clock } from '../lib/clock.ts';
import { retryLater } from '../lib/errors.ts';
import { QueueFull, Semaphore } from '../lib/semaphore.ts';
import type { Sql } from '../lib/sql.ts';
import { recordCheck, StillTaken } from './outcome.ts';
import { checkProof, type ProofOptions, type ProofResult } from './proof.ts';
import { type DueDomain, dueDomains } from './schedule.ts';

/** Checks that run at the same time in this process, each with a few sockets. */
const maxConcurrent = 16;
const maxWaiting = 128;
/** Of one turn of `checkDue`, so that one leader's turn ends soon even if every name server is slow. */
const maxDue = 64;

interface CheckerOptions {
  sql: Sql;
  clock: Clock;
  proof: ProofOptions;
  /** Ends the checks that run, without a result. */
  stopping: AbortSignal;
  /** Called with the events of each check after its commit. */
  onRecorded(events: Recorded<AccountEvent>[]): Promise<void>;
}

/** Checks the proofs of domains, and stores the results. No transaction is open while it waits for a DNS server or a domain. */
export class DomainChecker {
  readonly #options: CheckerOptions;
  readonly #slots = new Semaphore(maxConcurrent, maxWaiting);
  /** Checks that run, by domain: a second request for the same check gets the result of the first. */
  readonly #running = new Map<string, Promise<ProofResult>>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  /** Checks a domain now. Throws 409 if its proof is complete, but another account has the domain. */
  async check(domain: DueDomain, actor: Actor): Promise<void> {
    const { sql, clock, stopping, onRecorded } = this.#options;
    const result = await this.#proof(domain);
    stopping.throwIfAborted();
    await onRecorded(await recordCheck(sql, domain, result, { actor, now: clock() }));
  }

  /**
   * Checks domains whose check is due, and reports those whose result could not be stored. Resolves to whether there may be
   * more of them.
   */
  async checkDue(onError: (domain: DueDomain, error: unknown) => void): Promise<boolean> {
    const { sql, clock, stopping } = this.#options;
    const due = await dueDomains(sql, clock(), maxDue);
    await Promise.all(
      due.map((domain) =>
        this.check(domain, service).catch((error) => {
          if (!(error instanceof StillTaken) && !stopping.aborted) onError(domain, error);
        }),
      ),
    );
    return due.length === maxDue;
  }

  #proof(domain: DueDomain): Promise<ProofResult> {
    const running = this.#running.get(domain.id) ?? this.#start(domain);
    this.#running.set(domain.id, running);
    return running;
  }

  #start(domain: DueDomain): Promise<ProofResult> {
    const { proof, stopping } = this.#options;
    return this.#slots
      .run(() => checkProof(domain, proof, stopping))
      .catch((error) => {
        throw error instanceof QueueFull ? retryLater('Too many domains are being checked: try again soon.') : error;
      })
      .finally(() => this.#running.delete(domain.id));
  }
}
