import { backoff } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { type DueMail, takeDue } from './outbox.ts';
import { forgetOld, measureBacklog, type Outcome, record } from './outcomes.ts';
import { type Mailer, maxConnections } from './transport.ts';

interface SenderOptions {
  sql: Sql;
  mailer: Mailer;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  timers?: Timers;
}

/** How soon a mail that another process has queued is sent. */
const pollMs = 2_000;
const retryRecordMs = 1_000;
/** Pauses while the server is unreachable. */
const serverRetries = { firstMs: 5_000, maxMs: 5 * 60_000, resetAfterMs: 0 };

/** Sends the mails of the outbox until the signal aborts. One process at a time runs it. */
export async function sendMails(options: SenderOptions, signal: AbortSignal): Promise<void> {
  const { sql, clock, log, metrics, timers = systemTimers } = options;
  let retries = backoff(serverRetries);
  while (!signal.aborted) {
    let pauseMs = pollMs;
    try {
      const { waiting, delaySeconds } = await measureBacklog(sql, clock());
      metrics.mailsWaiting.set(waiting);
      metrics.mailsDelay.set(delaySeconds);
      const turn = await sendNext(options, signal);
      if (turn.failure !== undefined) {
        pauseMs = retries.nextMs(0);
        log.warn(
          { error: turn.failure, retry_s: pauseMs / 1_000 },
          'the mail server of SMTP_URL takes no mail, trying again',
        );
      } else {
        retries = backoff(serverRetries);
        if (turn.sent > 0) pauseMs = 0;
        else await forgetOld(sql, clock());
      }
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'mails could not be read from the outbox, trying again');
    }
    if (pauseMs > 0) await timers.sleep(pauseMs, { signal });
  }
  // Another process measures from now on.
  metrics.mailsWaiting.set(0);
  metrics.mailsDelay.set(0);
}

/** Sends as many mails as there are connections. `failure`: why none could be sent. */
async function sendNext(options: SenderOptions, signal: AbortSignal): Promise<{ sent: number; failure?: string }> {
  const { sql, clock } = options;
  const leaseMs = 2 * timeouts.mailSendMs;
  const mails = await takeDue(sql, clock(), { limit: maxConnections, leaseMs });
  const outcomes = await Promise.all(mails.map((mail) => sendOne(mail, options, signal)));
  const failed = outcomes.find((outcome) => outcome.kind === 'unreachable');
  const sent = outcomes.filter((outcome) => outcome.kind !== 'unreachable').length;
  return failed === undefined || sent > 0 ? { sent } : { sent, failure: failed.reason };
}

async function sendOne(mail: DueMail, options: SenderOptions, signal: AbortSignal): Promise<Outcome> {
  const { mailer, log, metrics } = options;
  const outcome = await mailer.send(mail);
  metrics.mailAttempts.inc({ outcome: outcome.kind });
  await recordUntilStored(mail, outcome, options, signal);
  // Without the address and the response of the server, which may contain it: the owner sees both.
  if (outcome.kind === 'refused') log.info({ mail: mail.id }, 'the mail server refused a mail for good');
  return outcome;
}

/** What is not recorded would be sent again, so this is tried until the process stops. */
async function recordUntilStored(mail: DueMail, outcome: Outcome, options: SenderOptions, signal: AbortSignal) {
  const { sql, clock, log, timers = systemTimers } = options;
  for (;;) {
    try {
      await record(sql, mail, outcome, clock());
      return;
    } catch (error) {
      log.warn({ mail: mail.id, error: messageOf(error) }, 'the outcome of a mail could not be stored, trying again');
      if (signal.aborted) return;
      await timers.sleep(retryRecordMs, { signal });
    }
  }
}
