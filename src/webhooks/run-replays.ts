import type { EndpointKey } from '../../events/endpoint.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';
import { replayNext, runningReplays } from './replay-steps.ts';

const idleMs = 2_000;
/** Pause while a replay has deliveries that are being sent. */
const waitingMs = 100;
const shortPauseMs = 5;

interface Options {
  sql: Sql;
  clock: Clock;
  log: Logger;
  /** Called with endpoints that have new deliveries. */
  wake(endpoints: EndpointKey[]): void;
}

/** Runs the steps of all replays in turn. Safe to run on several instances at once. */
export function startReplays({ sql, clock, log, wake }: Options): Loop {
  async function once(signal: AbortSignal): Promise<number> {
    const running = await runningReplays(sql);
    let pauseMs = running.length === 0 ? idleMs : waitingMs;
    for (const id of running) {
      if (signal.aborted) break;
      const { step, wake: endpoint } = await replayNext(sql, id, clock());
      if (endpoint !== undefined) wake([endpoint]);
      if (step === 'progressed') pauseMs = shortPauseMs;
    }
    return pauseMs;
  }

  return every(idleMs, once, {
    onError: (error) => log.warn({ error: messageOf(error) }, 'a step of a webhook replay failed: retrying in 2 s'),
  });
}
