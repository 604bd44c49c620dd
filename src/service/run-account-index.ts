import { messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';
import { BlockChanged, indexedTo, indexNextBlock, pruneIndex } from '../log/account-index.ts';
import { headOfLog } from '../log/read.ts';

const checkMs = 5_000;
/** A pause of this many times the duration of a step leaves most of the time to appends while a long log is read. */
const pausePerStep = 3;

/** Keeps the index of accounts close to the end of the log. Needs no leader, because each block is added only once. */
export function runAccountIndex({ sql, log }: { sql: Sql; log: Logger }): Loop {
  // Looks for what the retention has removed after the start and after each block, not all the time.
  let mayPrune = true;
  return every(
    checkMs,
    async () => {
      const started = performance.now();
      const isIndexed = await indexNextBlock(sql, await headOfLog(sql, await indexedTo(sql)));
      if (mayPrune || isIndexed) mayPrune = await pruneIndex(sql);
      return isIndexed || mayPrune ? (performance.now() - started) * pausePerStep : checkMs;
    },
    {
      onError(error) {
        if (!(error instanceof BlockChanged))
          log.warn({ error: messageOf(error) }, 'the index of accounts could not be updated, trying again');
      },
    },
  );
}
