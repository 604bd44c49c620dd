import type { LogRange } from '../../events/entry.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { connect } from '../log/connect.ts';
import { locks } from '../log/locks.ts';
import { startWorker, type WorkerOptions } from '../webhooks/worker.ts';
import type { StreamContext } from './context.ts';
import type { Leadership } from './leader.ts';
import { runProjection } from './runner.ts';

/** Makes deliveries of scans, where one process of all does, and sends them, where every one does. */
export function runWebhooks(
  context: StreamContext & Pick<WorkerOptions, 'box' | 'send' | 'clock' | 'disable'>,
): Leadership {
  const { sql, databaseUrl, clock, log, metrics, box, send, disable } = context;
  // Connections of its own: however much there is to send, nobody else waits for one.
  const own = connect(databaseUrl, { max: 6, name: 'scanlog-webhooks' });
  const worker = startWorker({ sql: own, box, send, clock, log, metrics, disable });
  const projection = {
    name: webhooks.name,
    checkpoint: () => webhooks.checkpoint(sql),
    apply: async (range: LogRange) => worker.wake(await webhooks.apply(sql, range, clock())),
    most: 5_000,
    lingerMs: 0,
  };
  const making = runProjection({ ...context, lock: locks.webhooks, projection });
  return {
    async stop() {
      await Promise.all([making.stop(), worker.stop()]);
      await own.end({ timeout: 2 });
    },
  };
}
