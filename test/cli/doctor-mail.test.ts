import { expect, test } from 'vitest';
import { runChecks } from '../../src/cli/doctor/finding.ts';
import { mailChecks } from '../../src/cli/doctor/mail.ts';
import { readConfig } from '../../src/config/config.ts';
import { useSmtp } from '../support/smtp.ts';

const smtp = useSmtp();

const findings = (settings: Record<string, string>) => runChecks('service', mailChecks(readConfig(settings)), String);
const findingsOf = (url: string) => findings({ SMTP_URL: url, MAIL_FROM: 'qr@example.com' });

test('the doctor connects to the mail server, and says what to correct', async () => {
  expect(await findingsOf(smtp.url)).toMatchObject([{ check: 'mail', status: 'ok' }]);
  const message = expect.stringMatching(/^The mail server 127\.0\.0\.1:\d+ takes no mails \(.+\): correct SMTP_URL\./);
  const refused = await findingsOf(smtp.url.replace('://', '://user:secret@'));
  expect(refused).toMatchObject([{ check: 'mail', status: 'error', message }]);
});

test('without SMTP_URL there is nothing to check', async () => {
  expect(await findings({})).toEqual([]);
});
