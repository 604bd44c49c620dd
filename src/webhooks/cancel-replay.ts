import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import type { Sql } from '../lib/sql.ts';
import { addOutcomes } from './replay-steps.ts';
import { findReplay, type Replay } from './replays.ts';

/**
 * Cancels a replay that is running. Its deliveries that wait for their first attempt are removed, or get back the status
 * that they had.
 */
export const cancelReplay = (sql: Sql, key: EndpointKey, id: string, now: Date): Promise<Replay | undefined> =>
  sql.begin(async (tx) => {
    const { account, webhook } = key;
    // In the order that all transactions use: replays, endpoints, deliveries.
    const [running] = await tx<Replay[]>`
      SELECT * FROM endpoint_replays
      WHERE id = ${id} AND account = ${account} AND webhook = ${webhook} AND status = 'running' FOR UPDATE`;
    if (running === undefined) return findReplay(tx, key, id);
    await addOutcomes(tx, running);
    await tx`UPDATE endpoints SET replaying = false WHERE account = ${account} AND webhook = ${webhook}`;
    const waiting = tx`
      account = ${account} AND webhook = ${webhook} AND id = ANY(${running.outstanding}) AND status = 'pending'
        AND low_priority AND tries = 0`;
    await tx`DELETE FROM deliveries WHERE ${waiting} AND replay = ${id}`;
    await tx`
      UPDATE deliveries SET
        status = CASE WHEN attempts -> -1 IS NOT NULL AND attempts -> -1 ->> 'error' IS NULL THEN 'delivered' ELSE 'failed' END,
        finished_at = ${now}
      WHERE ${waiting}`;
    const [canceled] = await tx<[Replay]>`
      UPDATE endpoint_replays SET status = 'canceled', ended_at = ${now}, outstanding = '{}',
        delivered = ${running.delivered}, failed = ${running.failed}
      WHERE id = ${id} RETURNING *`;
    return canceled;
  });
