import { Superseded } from '../../projections/checkpoint.ts';
import { logBlocks } from '../../projections/log-blocks.ts';
import { messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../log/connect.ts';
import { headOfLog } from '../log/read.ts';

const checkMs = 5_000;
/** A pause of this many times the duration of a block leaves most of the time to appends while a long log is read. */
const pausePerBlock = 3;

/** Keeps `log_blocks` close to the end of the log. Needs no leader, because the checkpoint can be moved only once. */
export function runLogBlocks({ sql, log }: { sql: Sql; log: Logger }): Loop {
  return every(
    checkMs,
    async () => {
      const started = performance.now();
      const head = await headOfLog(sql, await logBlocks.checkpoint(sql));
      const isAdded = await logBlocks.addNext(sql, head);
      return isAdded ? (performance.now() - started) * pausePerBlock : checkMs;
    },
    {
      onError(error) {
        if (!(error instanceof Superseded))
          log.warn({ error: messageOf(error) }, 'the blocks of the log could not be updated, trying again');
      },
    },
  );
}
