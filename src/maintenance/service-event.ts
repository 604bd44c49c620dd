import { service } from '../../events/recorded.ts';
import { type ServiceEvent, serviceStream } from '../../events/service.ts';
import type { Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';

/** Records in the log what the service did to all accounts, and commits the transaction. */
export async function appendServiceEvent(tx: Transaction, event: ServiceEvent, now: Date): Promise<void> {
  const [{ version }] = await tx<[{ version: number }]>`
    SELECT coalesce(max(version), 0) + 1 AS version FROM events WHERE stream = ${serviceStream}`;
  await appendAndCommit<ServiceEvent>(
    tx,
    prepare([{ stream: serviceStream, version, event }], { actor: service, now }),
  );
}
