import { runRetention } from '../maintenance/run-retention.ts';
import { nudgeRelay } from '../stream/changes.ts';
import type { StreamContext } from '../stream/context.ts';
import { disable } from '../webhooks/commands.ts';
import type { ServiceContext } from './context.ts';
import { runDomainChecks } from './domain-checks.ts';
import { runAccountIndex } from './run-account-index.ts';
import { runAlerts } from './run-alerts.ts';
import { runAnalytics } from './run-analytics.ts';
import { runCounters } from './run-counters.ts';
import { runMail } from './run-mail.ts';
import { runReports } from './run-reports.ts';
import { runWebhooks } from './run-webhooks.ts';

/** The role `projections`: counters, account index, webhooks, analytics, retention, checks of domains, alerts, mail, reports. */
export function startProjections(context: ServiceContext, streamContext: StreamContext): void {
  const { config, sql, warehouse, clock, webhooks, stopping, cleanup } = context;
  const { box, send } = webhooks;
  cleanup.add(runCounters(streamContext).stop, runAccountIndex(streamContext).stop);
  const delivering = runWebhooks({
    ...streamContext,
    box,
    send,
    clock,
    disable: (key, reason, attemptedAt) => disable(sql, key, { reason, attemptedAt, now: clock() }),
  });
  cleanup.add(delivering.stop);
  cleanup.add(runAnalytics({ ...streamContext, warehouse, signal: stopping }).stop);
  const wakeRelay = () => nudgeRelay(streamContext.nats, streamContext.stream);
  cleanup.add(runDomainChecks(context, wakeRelay).stop, runAlerts(context, wakeRelay).stop);
  for (const part of [runMail(context), runReports(context)]) if (part !== undefined) cleanup.add(part.stop);
  cleanup.add(runRetention({ ...streamContext, clock, months: config.scanRetentionMonths }).stop);
}
