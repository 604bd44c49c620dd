import { afterAll, describe, expect, test } from 'vitest';
import { mailBody } from '../../src/mail/body.ts';
import type { DueMail } from '../../src/mail/outbox.ts';
import { createMailer, type Mailer, type MailServer, outcomeOf } from '../../src/mail/transport.ts';
import { headersOf, partsOf, useSmtp } from '../support/smtp.ts';
import { authority, certificate, privateKey } from '../webhooks/certificate.ts';

const plain = useSmtp({ size: 100_000 });
const secured = useSmtp({
  key: privateKey,
  cert: certificate,
  onAuth({ username, password }, _session, answer) {
    if (username !== 'scanlog' || password !== 'p@ss/word') return answer(new Error('wrong password'));
    answer(null, { user: username });
  },
});

const mailers: Mailer[] = [];
afterAll(() => {
  for (const mailer of mailers) mailer.close();
});

function mailerOf(options: Omit<MailServer, 'from'>): Mailer {
  const mailer = createMailer({ from: 'Scanlog <qr@example.com>', ...options });
  mailers.push(mailer);
  return mailer;
}

const mail: DueMail = {
  id: 1,
  key: 'test/1',
  recipient: 'ada@example.com',
  subject: 'Zwölf Scans – “Menü”\r\nBcc: eve@example.com',
  ...bodies(),
  headers: { 'List-Unsubscribe': '<https://example.com/u>' },
  attachments: [{ name: 'report.pdf', type: 'application/pdf', content: new Uint8Array([37, 80, 68, 70, 0, 255]) }],
  attempts: 1,
  created_at: new Date(),
};

function bodies() {
  const { text, html } = mailBody({
    heading: 'Scans of <Menü>',
    paragraphs: ['One & two.'],
    rows: [['Scans', '1,200']],
    reason: 'You get this because the owner added you.',
    unsubscribeUrl: 'https://example.com/u',
  });
  return { plain_text: text, html };
}

const to = (recipient: string) => ({ ...mail, recipient });
const authenticated = (password: string) => secured.url.replace('://', `://scanlog:${encodeURIComponent(password)}@`);
const trusted = { tls: { ca: authority, servername: 'hook.test' } };

test('a mail has text, HTML and its attachment, and the same Message-ID each time', async () => {
  const mailer = mailerOf({ url: plain.url });
  expect([await mailer.send(mail), await mailer.send(mail)]).toEqual([{ kind: 'sent' }, { kind: 'sent' }]);
  const [first, second] = plain.mails.map(({ raw }) => headersOf(raw));
  expect(first?.get('message-id')).toMatch(/^<[0-9a-f]{40}@example\.com>$/);
  expect(second?.get('message-id')).toBe(first?.get('message-id'));
  expect(first?.get('from')).toBe('Scanlog <qr@example.com>');
  expect(first?.get('list-unsubscribe')).toBe('<https://example.com/u>');
  expect(first?.get('auto-submitted')).toBe('auto-generated');
  // A line break in a subject adds neither a header nor a recipient.
  expect(first?.has('bcc')).toBe(false);
  expect(plain.mails.map((received) => received.to)).toEqual(['ada@example.com', 'ada@example.com']);
  const parts = partsOf(plain.mails[0]?.raw ?? '');
  expect(parts.map(({ headers }) => headers.get('content-type')?.split(';')[0])).toEqual([
    'text/plain',
    'text/html',
    'application/pdf',
  ]);
  expect(parts[0]?.content.toString()).toContain('Scans: 1,200');
  expect(parts[1]?.content.toString()).toContain('Scans of &lt;Menü&gt;');
  expect([...(parts[2]?.content ?? [])]).toEqual([37, 80, 68, 70, 0, 255]);
});

test('refusals of a recipient are told apart: for good, and for now', async () => {
  const mailer = mailerOf({ url: plain.url });
  plain.refuse('gone@example.com', '550 no such user');
  plain.refuse('busy@example.com', '451 try later');
  expect(await mailer.send(to('gone@example.com'))).toMatchObject({
    kind: 'refused',
    reason: expect.stringMatching(/^550/),
  });
  expect(await mailer.send(to('busy@example.com'))).toMatchObject({
    kind: 'deferred',
    reason: expect.stringMatching(/^451/),
  });
});

test('a mail that is too large, or that cannot be sent at all, does not stop the others', async () => {
  const mailer = mailerOf({ url: plain.url });
  const large = { name: 'a.bin', type: 'application/octet-stream', content: new Uint8Array(200_000) };
  expect(await mailer.send({ ...mail, attachments: [large] })).toMatchObject({ kind: 'refused' });
  const kindOf = (fields: object) => outcomeOf(Object.assign(new Error('refused'), fields)).kind;
  expect(kindOf({ code: 'EENVELOPE', command: 'API' })).toBe('refused');
  expect(kindOf({ code: 'EMESSAGE', command: 'MAIL FROM' })).toBe('refused');
  expect(kindOf({ code: 'EENVELOPE', command: 'MAIL FROM', responseCode: 552 })).toBe('refused');
  expect(kindOf({ code: 'EENVELOPE', command: 'MAIL FROM', responseCode: 550 })).toBe('unreachable');
  expect(kindOf({ code: 'EMESSAGE', command: 'DATA', responseCode: 421 })).toBe('unreachable');
  expect(kindOf({ code: 'ESOCKET', command: 'CONN' })).toBe('unreachable');
});

test('a server that is down is not a refusal', async () => {
  expect(await mailerOf({ url: 'smtp://127.0.0.1:1' }).send(mail)).toMatchObject({ kind: 'unreachable' });
});

describe('with TLS', () => {
  test('a password is sent after STARTTLS', async () => {
    const mailer = mailerOf({ url: authenticated('p@ss/word'), ...trusted });
    expect(await mailer.send(mail)).toEqual({ kind: 'sent' });
    expect(secured.mails.at(-1)).toMatchObject({ isEncrypted: true, user: 'scanlog' });
    await mailer.verify();
  });

  test('a wrong password and a certificate of others stop all mails, and refuse none', async () => {
    const wrong = mailerOf({ url: authenticated('wrong'), ...trusted });
    expect(await wrong.send(mail)).toMatchObject({ kind: 'unreachable', reason: expect.stringMatching(/^535/) });
    await expect(wrong.verify()).rejects.toThrow();
    const stranger = mailerOf({ url: authenticated('p@ss/word') });
    expect(await stranger.send(mail)).toMatchObject({ kind: 'unreachable' });
  });

  test('a password never goes to a server without TLS', async () => {
    const count = plain.mails.length;
    const url = plain.url.replace('://', '://scanlog:secret@');
    expect(await mailerOf({ url }).send(mail)).toMatchObject({ kind: 'unreachable' });
    expect(plain.mails.length).toBe(count);
  });
});
