import { type Recorded, service } from '../../events/recorded.ts';
import { type ServiceEvent, serviceStream } from '../../events/service.ts';
import type { Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from './append.ts';

/** Records in the log what the service, or an operator, did to all accounts or to a person, and commits the transaction. */
export async function appendServiceEvent(
  tx: Transaction,
  event: ServiceEvent,
  now: Date,
  actor = service,
): Promise<Recorded<ServiceEvent>[]> {
  const [{ version }] = await tx<[{ version: number }]>`
    SELECT coalesce(max(version), 0) + 1 AS version FROM events WHERE stream = ${serviceStream}`;
  return appendAndCommit<ServiceEvent>(tx, prepare([{ stream: serviceStream, version, event }], { actor, now }));
}
