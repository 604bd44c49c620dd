import { upcast } from '../events/catalogue.ts';
import type { Recorded } from '../events/recorded.ts';
import { endpointKey } from '../events/webhooks/endpoint.ts';
import type { Transaction } from '../src/lib/sql.ts';
import { readEndpoints, saveEndpoints } from './endpoint-table.ts';
import {
  changesEndpoints,
  type Endpoint,
  type EndpointEntry,
  Endpoints,
  endpointEntryTypes,
  isActive,
  stopErrors,
} from './webhook-endpoints.ts';

const accountsPerBatch = 500;

/**
 * Makes all endpoints what the log says up to position `to`, after the projection has applied events that the log has lost.
 * Deliveries that were pending when a lost event stopped their webhook are pending again. Those to a webhook that was not on
 * are deleted while they are pending: none was sent, because the target is read from current state, and deliveries of a webhook
 * that the log sets after `to` are created again.
 */
export async function rebuildEndpoints(tx: Transaction, to: number): Promise<void> {
  const rows = await tx<{ account: string }[]>`
    SELECT account FROM endpoints UNION SELECT account FROM subscriptions ORDER BY account`;
  for (let from = 0; from < rows.length; from += accountsPerBatch) {
    const accounts = rows.slice(from, from + accountsPerBatch).map(({ account }) => account);
    await rebuild(tx, await readEndpoints(tx, accounts), await endpointsInLog(tx, accounts, to));
  }
}

/** The endpoints of these accounts after the events up to position `to`. */
async function endpointsInLog(tx: Transaction, accounts: string[], to: number): Promise<Endpoint[]> {
  const rows = await tx<EventRow[]>`
    SELECT * FROM events
    WHERE stream = ANY(${accounts}) AND type = ANY(${endpointEntryTypes}) AND position <= ${to}
    ORDER BY position`;
  const endpoints = new Endpoints([]);
  for (const { type, schema, data, ...rest } of rows) {
    const event = Object.assign(rest, upcast(type, schema, data));
    // The events of an erased account are empty.
    if (changesEndpoints(event)) endpoints.changeBy(event);
  }
  return endpoints.all;
}

type EventRow = Omit<Recorded<EndpointEntry>, 'type' | 'data'> & { type: string; schema: number; data: unknown };

async function rebuild(tx: Transaction, stored: Endpoint[], inLog: Endpoint[]): Promise<void> {
  const storedByKey = new Map(stored.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const keysInLog = new Set(inLog.map(endpointKey));
  const unknown = stored.filter((endpoint) => !keysInLog.has(endpointKey(endpoint)));
  await deleteEndpoints(tx, unknown);
  const different = inLog.filter((endpoint) => {
    const before = storedByKey.get(endpointKey(endpoint));
    // The row of a deleted webhook is deleted once nothing of it is pending.
    return before === undefined ? endpoint.stopped_by !== 'deleted' : !isSame(before, endpoint);
  });
  if (different.length === 0) return;
  await saveEndpoints(tx, different);
  await restoreDeliveries(tx, different.filter(isActive));
  await deletePending(
    tx,
    different.filter((endpoint) => !isActive(endpoint)),
  );
}

const isSame = (a: Endpoint, b: Endpoint) => comparable(a) === comparable(b);

/** Without `dropping`, which is reset when the pending deliveries are dropped. */
const comparable = ({ is_set, is_paid, generation, stopped_by, filter }: Endpoint) =>
  // Postgres orders the fields of `filter` in its own way.
  JSON.stringify([is_set, is_paid, generation, stopped_by, filter.mode, filter.events, filter.qr_ids, filter.tags]);

async function deleteEndpoints(tx: Transaction, endpoints: Endpoint[]): Promise<void> {
  if (endpoints.length === 0) return;
  await tx`
    DELETE FROM endpoints e USING ${keysIn(tx, endpoints)} WHERE e.account = k.account AND e.webhook = k.webhook`;
  await tx`
    DELETE FROM deliveries d USING ${keysIn(tx, endpoints)}
    WHERE d.account = k.account AND d.webhook = k.webhook AND d.status = 'pending'`;
}

/** Makes deliveries pending again that a lost event has stopped, and endpoints due that have pending ones. */
async function restoreDeliveries(tx: Transaction, endpoints: Endpoint[]): Promise<void> {
  if (endpoints.length === 0) return;
  await tx`
    UPDATE deliveries d SET status = 'pending', error = NULL, finished_at = NULL, generation = k.generation
    FROM ${keysIn(tx, endpoints)}
    WHERE d.account = k.account AND d.webhook = k.webhook AND d.generation >= k.generation AND NOT d.low_priority
      AND (d.status = 'failed' AND d.error = ANY(${Object.values(stopErrors)})
        OR d.status = 'pending' AND d.generation > k.generation)`;
  await tx`
    UPDATE endpoints e SET due_at = (
      SELECT min(d.due_at) FROM deliveries d
      WHERE d.account = e.account AND d.webhook = e.webhook AND d.status = 'pending'
        AND d.generation = e.generation
    )
    FROM ${keysIn(tx, endpoints)} WHERE e.account = k.account AND e.webhook = k.webhook`;
}

/** Deletes pending deliveries that were created after the webhook had stopped, by the log: a lost event had enabled it. */
async function deletePending(tx: Transaction, endpoints: Endpoint[]): Promise<void> {
  if (endpoints.length === 0) return;
  await tx`
    DELETE FROM deliveries d USING ${keysIn(tx, endpoints)}
    WHERE d.account = k.account AND d.webhook = k.webhook AND d.status = 'pending' AND d.generation >= k.generation`;
}

const keysIn = (tx: Transaction, endpoints: Endpoint[]) => {
  const keys = endpoints.map(({ account, webhook, generation }) => ({ account, webhook, generation }));
  return tx`jsonb_to_recordset(${tx.json(keys)}) AS k (account text, webhook text, generation integer)`;
};
