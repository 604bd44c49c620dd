import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterAll, beforeAll } from 'vitest';

export interface ReceivedMail {
  to: string;
  /** As it came over the network. */
  raw: string;
  isEncrypted: boolean;
  user: string | undefined;
}

export interface TestSmtp {
  /** Where it listens; set when the first test begins. */
  url: string;
  mails: ReceivedMail[];
  /** Answers to this recipient from now on, such as `550 no such user`; undefined takes its mails again. */
  refuse(recipient: string, answer: string | undefined): void;
  /** Mails are not answered until the returned function is called. */
  hold(): () => void;
}

/** An SMTP server on loopback, for the tests of one file. */
export function useSmtp(options: SMTPServerOptions = {}): TestSmtp {
  const refusals = new Map<string, string>();
  const mails: ReceivedMail[] = [];
  let held: Promise<void> = Promise.resolve();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.key === undefined ? ['STARTTLS', 'AUTH'] : [],
    disableReverseLookup: true,
    logger: false,
    onRcptTo({ address }, _session, answer) {
      const refusal = refusals.get(address);
      if (refusal === undefined) return answer();
      answer(Object.assign(new Error(refusal.slice(4)), { responseCode: Number(refusal.slice(0, 3)) }));
    },
    onData(stream, { envelope, secure, user }, answer) {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', async () => {
        await held;
        if (stream.sizeExceeded) return answer(Object.assign(new Error('too large'), { responseCode: 552 }));
        const raw = Buffer.concat(pieces).toString('latin1');
        for (const { address } of envelope.rcptTo)
          mails.push({ to: address, raw, isEncrypted: secure, user: userOf(user) });
        answer();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  const smtp: TestSmtp = {
    url: '',
    mails,
    refuse(recipient, answer) {
      if (answer === undefined) refusals.delete(recipient);
      else refusals.set(recipient, answer);
    },
    hold() {
      const gate = Promise.withResolvers<void>();
      held = gate.promise;
      return gate.resolve;
    },
  };
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    smtp.url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise<void>((resolve) => server.close(resolve)));
  return smtp;
}

const userOf = (user: unknown) => (typeof user === 'string' ? user : undefined);

export interface MailPart {
  headers: Map<string, string>;
  content: Buffer;
}

/** The parts of a mail, nested ones included, each decoded. */
export function partsOf(raw: string): MailPart[] {
  const end = raw.indexOf('\r\n\r\n');
  const headers = headersOf(raw.slice(0, end));
  const body = raw.slice(end + 4);
  const [, boundary] = /boundary="?([^";]+)"?/.exec(headers.get('content-type') ?? '') ?? [];
  if (boundary === undefined) return [{ headers, content: decoded(body, headers.get('content-transfer-encoding')) }];
  const inner = body.split(`--${boundary}`).slice(1, -1);
  return inner.flatMap((part) => partsOf(part.replace(/^\r\n/, '').replace(/\r\n$/, '')));
}

/** The headers of a mail by their names in lower case. */
export function headersOf(raw: string): Map<string, string> {
  const [head = ''] = raw.split('\r\n\r\n', 1);
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
}

function decoded(body: string, encoding = '7bit'): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1');
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}
