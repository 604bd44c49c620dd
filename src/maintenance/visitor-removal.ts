import { setTimeout as sleep } from 'node:timers/promises';
import { visitorRemovals } from '../../projections/visitor-removals.ts';
import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';
import type { Leadership } from '../stream/leader.ts';

/** A chunk may read one page per row: at 5 ms per page, 2,000 rows stay below the statement timeout. */
const chunkRows = 2_000;
const idleMs = 2_000;
/** A pause of twice the duration of the last chunk leaves two thirds of the time to appends. */
const pausePerChunk = 2;

/** Removes visitors of deleted codes in the background. Needs no leader, because each chunk locks its code. */
export function runVisitorRemoval({ sql, log }: { sql: Sql; log: Logger }): Leadership {
  const removeChunk = async () => {
    const started = performance.now();
    const removed = await visitorRemovals.removeChunk(sql, chunkRows);
    return removed ? (performance.now() - started) * pausePerChunk : idleMs;
  };
  return every(idleMs, removeChunk, {
    onError: (error) =>
      log.warn({ error: messageOf(error) }, 'visitors of deleted codes could not be removed, trying again'),
  });
}

/** Removes all visitors that are scheduled for removal, for commands that run without the service. */
export async function removeAllVisitors(sql: Sql): Promise<void> {
  for (let removed = true; removed; ) {
    const started = performance.now();
    removed = await visitorRemovals.removeChunk(sql, chunkRows);
    if (removed) await sleep((performance.now() - started) * pausePerChunk);
  }
}
