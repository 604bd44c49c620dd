import { accountTurn, isAwaited } from '../../lib/account-turns.ts';
import { systemTimers, type Timers } from '../../lib/timers.ts';
import { tooManyReads } from './reading.ts';

/** Then the account's next operation has its turn, though the read goes on: it may hang until its own timeout. */
const maxTurnMs = 2_000;
/** Half of the time is left to other accounts while operations of the account wait for their turn. */
const pausePerRead = 1;

/**
 * Runs a read of an export when it is the account's turn: its exports read one after the other, so that they leave room for its charts,
 * and for the exports and redirects of others. Throws a refusal with `Retry-After` if `signal` aborts before the turn.
 *
 * @example
 * const chunk = await exportTurn(account, () => readChunk(reading, selection, options), signal);
 */
export function exportTurn<T>(
  account: string,
  read: () => Promise<T>,
  signal: AbortSignal,
  timers: Timers = systemTimers,
): Promise<T> {
  const found = Promise.withResolvers<T>();
  const turn = async () => {
    const startedAt = timers.now();
    const reading = read();
    found.resolve(reading);
    await settled(reading, maxTurnMs, timers);
    if (isAwaited(account)) await timers.sleep(pausePerRead * (timers.now() - startedAt));
  };
  accountTurn(account, turn, signal).catch(() => found.reject(tooManyReads()));
  return found.promise;
}

/** Resolves when `work` has settled, or after `ms`. */
async function settled(work: Promise<unknown>, ms: number, timers: Timers): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(ms, resolve);
  work.then(
    () => resolve(),
    () => resolve(),
  );
  await promise;
  cancel();
}
