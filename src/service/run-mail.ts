import { connect } from '../log/connect.ts';
import { locks } from '../log/locks.ts';
import { sendMails } from '../mail/sender.ts';
import { createMailer } from '../mail/transport.ts';
import { type Leadership, seekLeadership } from '../stream/leader.ts';
import type { ServiceContext } from './context.ts';

/** Sends the mails of the outbox, in one process at a time; nothing without SMTP_URL. */
export function runMail({ config, clock, log, metrics }: ServiceContext): Leadership | undefined {
  const { smtpUrl: url, mailFrom: from, databaseUrl } = config;
  if (url === undefined || from === undefined) return undefined;
  // A separate pool, so that contents of mails do not take the shared connections.
  const sql = connect(databaseUrl, { max: 4, name: 'scanlog-mail' });
  const leadership = seekLeadership({
    databaseUrl,
    lock: locks.mail,
    name: 'mail',
    log,
    async lead(signal) {
      const mailer = createMailer({ url, from });
      try {
        await sendMails({ sql, mailer, clock, log, metrics }, signal);
      } finally {
        mailer.close();
      }
    },
  });
  return {
    async stop() {
      await leadership.stop();
      await sql.end({ timeout: 2 });
    },
  };
}
