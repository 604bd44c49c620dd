import { setTimeout as sleep } from 'node:timers/promises';
import type { LogRange } from '../../events/entry.ts';
import { partsOf } from '../../projections/webhook-parts.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { connect } from '../log/connect.ts';
import { locks } from '../log/locks.ts';
import type { StreamContext } from '../stream/context.ts';
import type { Leadership } from '../stream/leader.ts';
import { runProjection } from '../stream/runner.ts';
import { Lookahead } from '../webhooks/lookahead.ts';
import { startWorker, type WorkerOptions } from '../webhooks/worker.ts';

const pauseMs = 100;
/** After entries without deliveries: only the checkpoint moves, and a transaction for that costs more than all else here. */
const idlePauseMs = 400;

/** Sends webhook deliveries in every process, and creates them from scans in the one that is elected. */
export function runWebhooks(
  context: StreamContext & Pick<WorkerOptions, 'box' | 'send' | 'clock' | 'disable'>,
): Leadership {
  const { sql, databaseUrl, clock, log, metrics, box, send, disable } = context;
  // A separate pool, so that sending many deliveries leaves the shared connections free. After a crash, a delivery whose outcome is lost
  // is sent again.
  const workerSql = connect(databaseUrl, { max: 6, name: 'scanlog-webhooks', losesLastCommits: true });
  const worker = startWorker({ sql: workerSql, box, send, clock, log, metrics, disable });
  let lookahead = new Lookahead(sql);

  const projection = {
    name: webhooks.name,
    checkpoint() {
      lookahead = new Lookahead(sql);
      return webhooks.checkpoint(sql);
    },
    async apply(range: LogRange) {
      const parts = await partsOf(sql, range);
      const endpoints = parts.length === 1 ? await applyPart(range) : await applyParts(parts);
      projection.pauseMs = endpoints > 0 ? pauseMs : idlePauseMs;
    },
    maxEntries: 5_000,
    pauseMs,
  };

  /** Returns the number of endpoints with new deliveries. */
  async function applyPart(part: LogRange): Promise<number> {
    const endpoints = await webhooks.apply(sql, part, clock());
    worker.wake(endpoints);
    return endpoints.length;
  }

  /** Meanwhile, other accounts get their deliveries first. */
  async function applyParts(parts: LogRange[]): Promise<number> {
    let [applied, found, isOver] = [parts[0]?.after ?? 0, 0, false];
    const advance = async () => worker.wake(await lookahead.advance(applied, clock()));
    await advance();
    const applyAll = async () => {
      for (const part of parts) {
        found += await applyPart(lookahead.remaining(part));
        applied = part.to;
      }
    };
    const lookAhead = async () => {
      for (; !isOver; await sleep(pauseMs)) await advance();
    };
    const applying = applyAll().finally(() => {
      isOver = true;
    });
    // Both end before the projection goes on or restarts.
    for (const outcome of await Promise.allSettled([applying, lookAhead()]))
      if (outcome.status === 'rejected') throw outcome.reason;
    return found;
  }

  const projecting = runProjection({ ...context, lock: locks.webhooks, projection });
  return {
    async stop() {
      await Promise.all([projecting.stop(), worker.stop()]);
      await workerSql.end({ timeout: 2 });
    },
  };
}
