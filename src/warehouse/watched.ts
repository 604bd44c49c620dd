import { withTimeout } from '../lib/with-timeout.ts';
import { pingWarehouse, type Warehouse } from './connect.ts';

const pingIntervalMs = 2_000;
const pingTimeoutMs = 5_000;
const maxMisses = 2;

/**
 * Waits for what may take long, for as long as the warehouse answers pings beside it. A request whose server died just
 * then can be left without an end: nobody would hear of it, and wait for ever.
 */
export async function whileItAnswers<T>(warehouse: Warehouse, work: Promise<T>): Promise<T> {
  const gone = Promise.withResolvers<never>();
  let misses = 0;
  const watching = setInterval(async () => {
    misses = (await answers(warehouse)) ? 0 : misses + 1;
    if (misses >= maxMisses) gone.reject(new Error('ClickHouse has stopped answering'));
  }, pingIntervalMs);
  try {
    return await Promise.race([work, gone.promise]);
  } finally {
    clearInterval(watching);
    // Whichever of the two comes second is nobody's.
    work.catch(() => {});
    gone.promise.catch(() => {});
  }
}

async function answers(warehouse: Warehouse): Promise<boolean> {
  const answer = pingWarehouse(warehouse).then(
    () => true,
    () => false,
  );
  return withTimeout(answer, pingTimeoutMs, () => false);
}
