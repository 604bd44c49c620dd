import { SemaphorePerKey } from './semaphore.ts';
import { systemTimers, type Timers } from './timers.ts';

/**
 * Operations that take long work in steps, and all operations of an account together take one step at a time, so that it gets no
 * more of the machine by starting several kinds of them. Each kind limits how many of it wait.
 */
const turns = new SemaphorePerKey(1, Number.POSITIVE_INFINITY);

/**
 * Runs a step of an operation when it is the account's turn. A step must not wait for another one. Rejects with the reason of `signal`
 * if that aborts before the turn.
 *
 * @example
 * for (const codes of chunks) await accountTurn(account, () => store(codes));
 */
export const accountTurn = <T>(account: string, step: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
  turns.run(account, step, signal);

/** Whether another step of the account waits for the one that calls this. */
export const isAwaited = (account: string): boolean => turns.callersOf(account) > 1;

/** Three quarters of the time are left to other accounts: what was read is also converted and sent. */
const pausePerRead = 3;

/** Like `accountTurn`, for reads of a long history: with a pause after it while another step of the account waits. */
export const pausedTurn = <T>(account: string, read: () => Promise<T>, timers: Timers = systemTimers): Promise<T> =>
  accountTurn(account, async () => {
    const startedAt = timers.now();
    const found = await read();
    if (isAwaited(account)) await timers.sleep(pausePerRead * (timers.now() - startedAt));
    return found;
  });
