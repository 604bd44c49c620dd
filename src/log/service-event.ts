import { type Actor, type Pending, type Recorded, service } from '../../events/recorded.ts';
import { type ServiceEvent, serviceStream } from '../../events/service.ts';
import type { Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from './append.ts';

/** An event of the service's stream, to be appended together with those of other streams. */
export async function prepareServiceEvent(
  tx: Transaction,
  event: ServiceEvent,
  by: { actor: Actor; now: Date },
): Promise<Pending<ServiceEvent>[]> {
  const [{ version }] = await tx<[{ version: number }]>`
    SELECT coalesce(max(version), 0) + 1 AS version FROM events WHERE stream = ${serviceStream}`;
  return prepare([{ stream: serviceStream, version, event }], by);
}

/** Records in the log what the service, or an operator, did to all accounts or to a person, and commits the transaction. */
export async function appendServiceEvent(
  tx: Transaction,
  event: ServiceEvent,
  now: Date,
  actor = service,
): Promise<Recorded<ServiceEvent>[]> {
  return appendAndCommit(tx, await prepareServiceEvent(tx, event, { actor, now }));
}
