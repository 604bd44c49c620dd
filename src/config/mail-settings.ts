import { mailbox, smtpUrl } from '../lib/setting-readers.ts';
import { setting } from './setting.ts';

/** How the service sends mail. Without `SMTP_URL` it sends none. */
export const mailSettings = {
  smtpUrl: setting({
    variable: 'SMTP_URL',
    isSecret: true,
    read: smtpUrl,
    about:
      'Mail server, such as `smtp://user:password@mail.example.com:587` (STARTTLS, required with a password) or `smtps://…` (TLS); `?tls=off` after it for a server without TLS ([more](operations.md#mail)). The same for every process. Default: nothing is mailed.',
  }),
  mailFrom: setting({
    variable: 'MAIL_FROM',
    read: mailbox,
    about: 'Sender of all mails, such as `Scanlog <qr@example.com>`; required with `SMTP_URL`.',
  }),
};
