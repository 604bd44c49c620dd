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
      projection.pauseMs = idlePauseMs;
      const parts = await partsOf(sql, range);
      for (const part of parts) {
        if (parts.length > 1) worker.wake(await lookahead.advance(part.after, clock()));
        const endpoints = await webhooks.apply(sql, part, clock());
        worker.wake(endpoints);
        if (endpoints.length > 0) projection.pauseMs = pauseMs;
      }
    },
    maxEntries: 5_000,
    pauseMs,
  };
  const projecting = runProjection({ ...context, lock: locks.webhooks, projection });
  return {
    async stop() {
      await Promise.all([projecting.stop(), worker.stop()]);
      await workerSql.end({ timeout: 2 });
    },
  };
}
