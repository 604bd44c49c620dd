import type { AccountEvent } from '../../events/account.ts';
import type { Recorded } from '../../events/recorded.ts';
import { DomainChecker } from '../domains/checker.ts';
import { type ProofOptions, proofPortOf } from '../domains/proof.ts';
import { dnsClient } from '../lib/dns.ts';
import { messageOf } from '../lib/errors.ts';
import { systemTimers } from '../lib/timers.ts';
import { locks } from '../log/locks.ts';
import { type Leadership, seekLeadership } from '../stream/leader.ts';
import type { ServiceContext } from './context.ts';

/** What checks of custom domains need, from the settings. */
function proofOptionsOf({ config, addresses, webhooks }: ServiceContext): ProofOptions {
  return {
    query: dnsClient(config.dnsServers),
    allowed: config.domainAllowedCidrs ?? { v4: [], v6: [] },
    target: addresses.domainTarget,
    port: proofPortOf(addresses.shortBaseUrl),
    proofOf: webhooks.box.domainProofOf,
  };
}

export const createDomainChecker = (
  context: ServiceContext,
  onRecorded: (events: Recorded<AccountEvent>[]) => Promise<void>,
): DomainChecker => {
  const { sql, clock, stopping } = context;
  return new DomainChecker({ sql, clock, stopping, proof: proofOptionsOf(context), onRecorded });
};

const pollMs = 5_000;
/** After a turn that has found as many as one turn takes. */
const busyPauseMs = 500;

/** Checks the domains that are due, in one process at a time. */
export function runDomainChecks(context: ServiceContext, onChange: () => void): Leadership {
  const { config, log } = context;
  const checker = createDomainChecker(context, async (events) => {
    if (events.length > 0) onChange();
  });
  const notStored = ({ id }: { id: string }, error: unknown) =>
    log.warn({ domain: id, error: messageOf(error) }, 'the check of a domain could not be stored, trying again');
  return seekLeadership({
    databaseUrl: config.databaseUrl,
    lock: locks.domainChecks,
    name: 'domain-checks',
    log,
    async lead(signal) {
      while (!signal.aborted) {
        const hasMore = await checker.checkDue(notStored).catch((error) => {
          log.warn({ error: messageOf(error) }, 'domains could not be checked, trying again');
          return false;
        });
        await systemTimers.sleep(hasMore ? busyPauseMs : pollMs, { signal });
      }
    },
  });
}
