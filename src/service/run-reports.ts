import { tableInUse } from '../analytics/table-in-use.ts';
import { dueReports, mailReport, postpone, type ReportMailer } from '../api/reports/mail-reports.ts';
import { messageOf } from '../lib/errors.ts';
import { systemTimers } from '../lib/timers.ts';
import { locks } from '../log/locks.ts';
import { headOfLog } from '../log/read.ts';
import { Renderer } from '../render/renderer.ts';
import { type Leadership, seekLeadership } from '../stream/leader.ts';
import type { ServiceContext } from './context.ts';

const pollMs = 2_000;
/** Reports that are made at the same time: as many as the renderer has processes. */
const maxAtOnce = 2;

/** Makes the reports that are due and queues their mails, in one process at a time; nothing without SMTP_URL. */
export function runReports({
  config,
  sql,
  warehouse,
  clock,
  addresses,
  mail,
  log,
}: ServiceContext): Leadership | undefined {
  if (mail === undefined) return undefined;
  const renderer = new Renderer();
  const parts: ReportMailer = { sql, warehouse, clock, addresses, mail, renderer };

  /** The end of the log when reports became due. A report that was mailed is not corrected, so analytics must be there first. */
  let target: number | undefined;

  /** Whether there may be more. */
  async function mailNext(): Promise<boolean> {
    const due = await dueReports(sql, clock(), maxAtOnce);
    if (due.length === 0) target = undefined;
    else target ??= await headOfLog(sql);
    if (target === undefined || (await tableInUse(sql)).position < target) return false;
    await Promise.all(
      due.map((report) =>
        mailReport(parts, report).catch(async (error) => {
          log.warn(
            { report: report.id, error: messageOf(error) },
            'a report could not be made, trying again in 5 minutes',
          );
          await postpone(sql, report, clock());
        }),
      ),
    );
    return true;
  }

  const leadership = seekLeadership({
    databaseUrl: config.databaseUrl,
    lock: locks.reports,
    name: 'reports',
    log,
    async lead(signal) {
      while (!signal.aborted) {
        const hasMore = await mailNext().catch((error) => {
          log.warn({ error: messageOf(error) }, 'reports that are due could not be read, trying again');
          return false;
        });
        if (!hasMore) await systemTimers.sleep(pollMs, { signal });
      }
    },
  });
  return {
    async stop() {
      renderer.close();
      await leadership.stop();
    },
  };
}
