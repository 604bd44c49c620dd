import { AlertChecker, scheduleMissing } from '../alerts/checker.ts';
import { DestinationChecker } from '../alerts/destinations.ts';
import { alertMailer } from '../alerts/mail.ts';
import { probe } from '../alerts/probe.ts';
import { messageOf } from '../lib/errors.ts';
import { systemTimers } from '../lib/timers.ts';
import { locks } from '../log/locks.ts';
import { type Leadership, seekLeadership } from '../stream/leader.ts';
import { resolveBySystem } from '../webhooks/destination.ts';
import type { ServiceContext } from './context.ts';

const defaultPollMs = 5_000;
/** After a turn that has found as many as one turn takes. */
const busyPauseMs = 500;

/** Checks alerts, and the destinations that they watch, in one process at a time. */
export function runAlerts(context: ServiceContext, onChange: () => void): Leadership {
  const { config, sql, clock, log, alertPollMs: pollMs = defaultPollMs } = context;
  const alerts = createAlertChecker(context, onChange);
  const destinations = createDestinationChecker(context);
  const failed = (message: string) => (error: unknown) => {
    log.warn({ error: messageOf(error) }, message);
    return false;
  };
  const repeat = async (signal: AbortSignal, turn: () => Promise<boolean>, message: string) => {
    while (!signal.aborted) {
      const hasMore = await turn().catch(failed(message));
      await systemTimers.sleep(hasMore ? busyPauseMs : pollMs, { signal });
    }
  };
  return seekLeadership({
    databaseUrl: config.databaseUrl,
    lock: locks.alerts,
    name: 'alerts',
    log,
    async lead(signal) {
      await scheduleMissing(sql, clock());
      // Websites that answer slowly do not delay the alerts.
      await Promise.all([
        repeat(signal, () => alerts.checkDue(), 'alerts could not be checked, trying again'),
        repeat(signal, () => destinations.checkDue(), 'destinations could not be checked, trying again'),
      ]);
    },
  });
}

function createAlertChecker(context: ServiceContext, onChange: () => void): AlertChecker {
  const { config, addresses, sql, warehouse, mail, clock, log, stopping } = context;
  return new AlertChecker({
    sql,
    warehouse,
    clock,
    stopping,
    publicUrl: addresses.publicUrl,
    mail: mail === undefined ? undefined : alertMailer(mail, addresses.publicUrl),
    limits: { testCodes: config.maxTestCodes, givenShortCodes: config.maxGivenShortCodes },
    folder: config.edgeFolder,
    onRecorded: onChange,
    onError: ({ id }, error) =>
      log.warn({ alert: id, error: messageOf(error) }, 'the check of an alert failed, trying again'),
  });
}

function createDestinationChecker(context: ServiceContext): DestinationChecker {
  const { addresses, webhooks, sql, clock, log, stopping } = context;
  const options = {
    policy: webhooks.policy,
    resolve: resolveBySystem,
    userAgent: `Scanlog-Alerts/1 (+${addresses.publicUrl})`,
    stopping,
  };
  return new DestinationChecker({ sql, clock, log, probe: (url) => probe(url, options) });
}
