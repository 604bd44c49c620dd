import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { codeOf } from '../lib/errors.ts';

type Work = (tx: postgres.TransactionSql) => unknown;

/** The end of a connection is heard of at once, or a moment after what it ended. */
const graceMs = 1_000;

// A new one each time: whoever waits for it is forgotten together with it.
const never = () => new Promise<never>(() => {});
/** With the last of these the server says good-bye, and closes the connection behind it. */
const lossCodes = new Set([
  ...['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'CONNECTION_ENDED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
  ...['57P01', '57P02', '57P03', '57P05', '25P03'],
]);
const isLoss = (error: unknown) => lossCodes.has(codeOf(error));

const lost = () =>
  Object.assign(new Error('the connection of this transaction is lost'), { code: 'CONNECTION_CLOSED' });

/**
 * Transactions that survive the loss of their connection. `postgres` rejects such a transaction, as it should; but then
 * it sends the ROLLBACK, or whatever else the work still has to say, to a socket that is gone, in a timer of its own where
 * nobody can catch it: the process would end. So work whose connection is lost is kept from ending and from asking.
 */
export function surviving<Begin>(begin: Begin): Begin {
  return (async (...given: [string, Work] | [Work]) => {
    const work = given[given.length - 1] as Work;
    let isLost = false;
    const loss = Promise.withResolvers<void>();
    const guarded = async (tx: postgres.TransactionSql) => {
      const asking = new Proxy(tx, {
        apply(target, _, query: Parameters<postgres.TransactionSql>) {
          if (isLost) throw lost();
          return target(...query);
        },
        get(target, name) {
          if (isLost) throw lost();
          return Reflect.get(target, name);
        },
      });
      try {
        const result = await work(asking);
        return isLost ? never() : result;
      } catch (error) {
        // It may tell of another connection, even to another server: then this one has nothing to fear.
        if (!isLost && isLoss(error)) await Promise.race([loss.promise, sleep(graceMs)]);
        if (isLost) return never();
        throw error;
      }
    };
    try {
      const options = given.length === 2 ? [given[0] as string] : [];
      return await (begin as (...all: unknown[]) => Promise<unknown>)(...options, guarded);
    } catch (error) {
      isLost = true;
      loss.resolve();
      throw error;
    }
  }) as Begin;
}
