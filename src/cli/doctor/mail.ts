import type { Config } from '../../config/config.ts';
import { messageOf } from '../../lib/errors.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import { createMailer } from '../../mail/transport.ts';
import { type Checks, error, type Outcome, ok } from './finding.ts';

/** Checks of the mail server; none without SMTP_URL. */
export const mailChecks = ({ smtpUrl: url, mailFrom: from }: Config): Checks => ({
  mail: () => (url === undefined || from === undefined ? undefined : checkServer(url, from)),
});

async function checkServer(url: string, from: string): Promise<Outcome> {
  const { host } = new URL(url);
  const mailer = createMailer({ url, from });
  try {
    await withTimeout(mailer.verify(), timeouts.doctorMs, () => {
      throw new Error('no response');
    });
    return ok(`The mail server ${host} takes mails of this service.`);
  } catch (thrown) {
    return error(
      `The mail server ${host} takes no mails (${messageOf(thrown)}): correct SMTP_URL. Mails wait for three days meanwhile.`,
    );
  } finally {
    mailer.close();
  }
}
