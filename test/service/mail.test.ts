import { beforeAll, expect, test } from 'vitest';
import type { ServiceConfig } from '../../src/config/config.ts';
import { created } from '../support/api.ts';
import { eventually, reaches } from '../support/eventually.ts';
import { useService } from '../support/service.ts';
import { headersOf, partsOf, useSmtp } from '../support/smtp.ts';
import { movableClock } from '../webhooks/clock.ts';

const smtp = useSmtp();
const time = movableClock();
const config: Partial<ServiceConfig> = { mailFrom: 'Scanlog <qr@example.com>' };
beforeAll(() => {
  config.smtpUrl = smtp.url;
});
const service = useService({ instances: 2, config, clock: time.clock });

test('a report is mailed once by two instances, and a mail server that does not answer delays nothing else', async () => {
  const account = await service.account();
  const code = await created(account.live, { name: 'Menu' });
  expect((await fetch(code.short_url, { redirect: 'manual' })).status).toBe(302);
  await service.allStored();
  const to = ['ada@example.com', 'gone@example.com'];
  const made = (await account.live.post('/v1/reports', { name: 'Weekly', every: 'week', qr_ids: [code.id], to })).body;
  expect(made).toMatchObject({ is_mailed: true, last_at: null });
  smtp.refuse('gone@example.com', '550 no such user');
  const release = smtp.hold();
  time.to(made.next_at);
  await eventually(async () => {
    expect((await account.live.get(`/v1/reports/${made.id}`)).body.last_at).not.toBeNull();
    expect(await service.metrics(0).then(async (one) => one + (await service.metrics(1)))).toMatch(
      /^scanlog_mails_waiting [12]$/m,
    );
  });
  // While the mail is not answered, scans are.
  expect((await fetch(code.short_url, { redirect: 'manual' })).status).toBe(302);
  release();
  await reaches(1, () => smtp.mails.length);
  await eventually(async () => {
    const { undelivered } = (await account.live.get(`/v1/reports/${made.id}`)).body;
    expect(undelivered).toMatchObject([{ email: 'gone@example.com', message: expect.stringMatching(/^550/) }]);
  });
  const [mail] = smtp.mails;
  expect(mail?.to).toBe('ada@example.com');
  expect(headersOf(mail?.raw ?? '').get('list-unsubscribe')).toMatch(/^<http:\/\/localhost:\d+\/u\/[0-9A-Za-z]{52}>$/);
  const pdf = partsOf(mail?.raw ?? '').at(-1);
  expect(pdf?.headers.get('content-type')).toContain('application/pdf');
  expect(pdf?.content.subarray(0, 8).toString('latin1')).toBe('%PDF-1.4');
  // The mail server has a mail before the service knows that it was accepted.
  await eventually(async () => {
    const sent = await service.database.sql`SELECT status FROM mails WHERE starts_with(key, 'report/') ORDER BY status`;
    expect(sent.map(({ status }) => status)).toEqual(['refused', 'sent']);
  });
});
