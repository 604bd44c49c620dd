import { pingWarehouse, type Warehouse } from './connect.ts';

const askEveryMs = 2_000;
const answerWithinMs = 5_000;
const missesAtMost = 2;

/**
 * Waits for what may take long, for as long as the warehouse answers pings beside it. A request whose server died just
 * then can be left without an end: nobody would hear of it, and wait for ever.
 */
export async function whileItAnswers<T>(warehouse: Warehouse, work: Promise<T>): Promise<T> {
  const gone = Promise.withResolvers<never>();
  let misses = 0;
  const watching = setInterval(async () => {
    misses = (await answers(warehouse)) ? 0 : misses + 1;
    if (misses >= missesAtMost) gone.reject(new Error('ClickHouse has stopped answering'));
  }, askEveryMs);
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
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, answerWithinMs, false);
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(timer));
}
