import { SemaphorePerKey } from '../../lib/semaphore.ts';
import { systemTimers, type Timers } from '../../lib/timers.ts';
import { tooManyReads } from './reading.ts';

const maxWaiting = 64;
/** Half of the time is left to other accounts while several exports of an account wait for their turn. */
const pausePerRead = 1;
const turns = new SemaphorePerKey(1, maxWaiting);

/**
 * Runs a read of an export when it is the turn of that export: those of one account read one after the other, so that they leave room
 * for its charts, and for the exports and redirects of others. Throws a refusal with `Retry-After` if too many wait, or if `signal`
 * aborts meanwhile.
 *
 * @example
 * const chunk = await exportTurn(account, () => readChunk(reading, selection, options), signal);
 */
export async function exportTurn<T>(
  account: string,
  read: () => Promise<T>,
  signal: AbortSignal,
  timers: Timers = systemTimers,
): Promise<T> {
  let hasBegun = false;
  const readInTurn = async () => {
    hasBegun = true;
    const startedAt = timers.now();
    const found = await read();
    if (turns.callersOf(account) > 1) await timers.sleep(pausePerRead * (timers.now() - startedAt), { signal });
    return found;
  };
  try {
    return await turns.run(account, readInTurn, signal);
  } catch (error) {
    throw hasBegun ? error : tooManyReads();
  }
}
