import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import { ArchiveError } from '../archive/errors.ts';
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
    let pauseMs = idleMs;
    for (const id of running) {
      if (signal.aborted) break;
      const { step, wake: endpoint } = await replayNext(sql, id, clock()).catch(unlessArchive);
      if (endpoint !== undefined) wake([endpoint]);
      if (step !== 'failed') pauseMs = Math.min(pauseMs, step === 'progressed' ? shortPauseMs : waitingMs);
    }
    return pauseMs;
  }

  /** The other replays continue while the archive cannot be read. */
  function unlessArchive(error: unknown) {
    if (!(error instanceof ArchiveError)) throw error;
    log.warn({ error: messageOf(error) }, 'a webhook replay cannot read the archive: retrying in 2 s');
    return { step: 'failed' as const, wake: undefined };
  }

  return every(idleMs, once, {
    onError: (error) => log.warn({ error: messageOf(error) }, 'a step of a webhook replay failed: retrying in 2 s'),
  });
}
