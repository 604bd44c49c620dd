import { createHash } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { DueMail } from './outbox.ts';
import type { Outcome } from './outcomes.ts';

export interface MailServer {
  /** As the setting SMTP_URL has it. */
  url: string;
  /** As the setting MAIL_FROM has it. */
  from: string;
  /** For a server whose certificate the system does not trust. */
  tls?: { ca: string; servername: string };
}

export interface Mailer {
  send(mail: DueMail): Promise<Outcome>;
  /** Connects and signs in; rejects if the server would take no mail. */
  verify(): Promise<void>;
  close(): void;
}

/** Connections, and mails that are sent at the same time. */
export const maxConnections = 4;
const idleMs = 10_000;

/** A client of the mail server. It connects when the first mail is sent, and keeps connections for a few seconds. */
export function createMailer({ url, from, tls }: MailServer): Mailer {
  const transport = createTransport({
    ...connectionOf(url),
    ...(tls === undefined ? {} : { tls }),
    pool: true,
    maxConnections,
    idleTimeout: idleMs,
    // Would send a mail again whose connection was closed before the response: the outbox decides that.
    maxRequeues: 0,
    connectionTimeout: timeouts.mailConnectMs,
    greetingTimeout: timeouts.mailConnectMs,
    dnsTimeout: timeouts.mailConnectMs,
    socketTimeout: timeouts.mailSendMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const host = from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '');
  return {
    async send(mail) {
      const sending = transport.sendMail({
        from,
        to: { name: '', address: mail.recipient },
        subject: mail.subject,
        text: mail.plain_text,
        html: mail.html,
        messageId: `<${messageName(mail.key)}@${host}>`,
        // RFC 3834: keeps vacation notices from answering.
        headers: { ...mail.headers, 'Auto-Submitted': 'auto-generated' },
        attachments: mail.attachments.map(({ name, type, content }) => ({
          filename: name,
          contentType: type,
          content: Buffer.from(content),
        })),
      });
      try {
        await withTimeout(sending, timeouts.mailSendMs, () => {
          throw new Error('the mail server did not take the mail before the timeout');
        });
        return { kind: 'sent' };
      } catch (error) {
        sending.catch(() => {});
        return outcomeOf(error);
      }
    },
    async verify() {
      await transport.verify();
    },
    close: () => transport.close(),
  };
}

/** The same for every attempt, so that a receiver can recognize a mail that it got twice. */
const messageName = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 40);

const defaultPorts = { 'smtp:': 587, 'smtps:': 465 } as const;

function connectionOf(text: string) {
  const { protocol, hostname, port, username, password, searchParams } = new URL(text);
  const secure = protocol === 'smtps:';
  const isPlain = searchParams.get('tls') === 'off';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? defaultPorts[secure ? 'smtps:' : 'smtp:'] : Number(port),
    secure,
    ignoreTLS: isPlain,
    // A password never goes over the network in plain text, unless the operator says so.
    requireTLS: !secure && !isPlain && username !== '',
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  };
}

interface SmtpError {
  message: string;
  /** What nodemailer calls it, such as `EMESSAGE`. */
  code?: string | undefined;
  /** The response of the server, if there was one, and to what. */
  responseCode?: number | undefined;
  response?: string | undefined;
  command?: string | undefined;
}

const maxReasonLength = 500;
/** Found before anything was sent: an address that the server cannot take, or a mail that is larger than it says. */
const unsendable = ['EENVELOPE', 'EMESSAGE'];
const tooLarge = 552;

/**
 * Tells whether the server refused one mail or fails for all of them: a response to the recipient or the content is about the
 * mail; one to the greeting, the sign-in or the sender would be the same for every other.
 */
export function outcomeOf(error: unknown): Outcome {
  const { message, code = '', responseCode, response, command = '' } = error as SmtpError;
  const reason = (response ?? message).slice(0, maxReasonLength);
  if (responseCode === undefined) return { kind: unsendable.includes(code) ? 'refused' : 'unreachable', reason };
  if (responseCode === tooLarge) return { kind: 'refused', reason };
  // 421 closes the connection, 503 says that it is in the wrong state.
  if (!['RCPT TO', 'DATA'].includes(command) || responseCode === 421 || responseCode === 503)
    return { kind: 'unreachable', reason };
  return { kind: responseCode >= 500 ? 'refused' : 'deferred', reason };
}
