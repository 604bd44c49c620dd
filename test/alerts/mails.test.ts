import { describe, expect, test } from 'vitest';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { newCode } from '../support/api.ts';
import { useService } from '../support/service.ts';
import { createAlert, eventsOf, reachesRaised } from './support.ts';

const service = useService({
  alertPollMs: 100,
  // Mails wait in the outbox: no server listens there.
  config: {
    publicUrl: 'https://qr.example.com',
    smtpUrl: 'smtp://127.0.0.1:1?tls=off',
    mailFrom: 'Scanlog <qr@example.com>',
  },
});
const { database } = service;

describe('a mail of an alert', () => {
  /** An alert of a plan that is nearly used up, and the mails that it has queued. */
  const nearlyUsedUp = async (fields: object) => {
    const account = await service.account('pro');
    await account.live.post('/v1/qrcodes/bulk', { qrcodes: Array.from({ length: 48 }, () => newCode()) });
    const alert = await createAlert(account.live, { kind: 'limit_near', ...fields });
    const [raised] = await reachesRaised(database.sql, account.live, 1);
    const mails = () => database.sql<{ recipient: string; subject: string; plain_text: string; html: string }[]>`
      SELECT recipient, subject, plain_text, html FROM mails WHERE account = ${account.id} ORDER BY id`;
    return { account, alert, raised, mails };
  };
  const click = (url: string) =>
    fetch(url.replace('https://qr.example.com', service.urls[0] ?? ''), {
      method: 'POST',
      body: 'List-Unsubscribe=One-Click',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  test('is in the language of the alert, like its event and what the console shows', async () => {
    const { account, alert, raised, mails } = await nearlyUsedUp({
      language: 'ar',
      name: 'حد',
      to: ['ada@example.com'],
    });
    const title = 'كادت رموز الخطة تنفد';
    expect(raised?.title).toBe(title);
    expect((await eventsOf(account.live))[0]?.data).toMatchObject({ title });
    const [mail] = await mails();
    expect(mail).toMatchObject({ subject: title, html: expect.stringContaining('<html lang="ar" dir="rtl">') });
    const { body } = await account.live.patch(`/v1/alerts/${alert.id}`, { language: 'de', active: false });
    expect(body).toMatchObject({ language: 'de' });
    await reachesRaised(database.sql, account.live, 0);
    const cleared = (await eventsOf(account.live)).find(({ type }) => type === 'alert.cleared');
    expect(cleared?.data.message).toBe('Die Benachrichtigung wurde angehalten.');
    expect((await mails())[1]?.subject).toBe(`Vorbei: ${title}`);
    expect((await replayState(database.sql)).corrected).toBe(0);
    expect((await account.live.post('/v1/alerts', { kind: 'silent', language: 'xx' })).status).toBe(400);
  });

  test('ends with one click, without sign-in, until the recipient wants it again', async () => {
    const { account, alert, mails } = await nearlyUsedUp({
      name: 'Plan',
      to: ['ada@example.com', 'grace@example.com'],
    });
    const [mail] = await mails();
    const [, url = ''] = /\nUnsubscribe: (\S+)/.exec(mail?.plain_text ?? '') ?? [];
    expect(await (await click(url)).text()).toContain('“Plan” is no longer mailed to ada@example.com.');
    expect(
      (await mails()).map(({ recipient }) => recipient),
      'what waited is not sent',
    ).toEqual(['grace@example.com']);
    const path = `/v1/alerts/${alert.id}`;
    await account.live.patch(path, { to: ['grace@example.com'] });
    await account.live.patch(path, { to: ['ada@example.com', 'grace@example.com'], active: false });
    expect((await account.live.get(path)).body).toMatchObject({ unsubscribed: ['ada@example.com'], undelivered: [] });
    await reachesRaised(database.sql, account.live, 0);
    expect((await mails()).map(({ recipient }) => recipient)).toEqual(['grace@example.com', 'grace@example.com']);

    await account.live.delete(path);
    expect([...(await mails())], 'mails of an alert that is deleted').toEqual([]);
    expect((await click(url)).status).toBe(404);
    expect([...(await database.sql`SELECT FROM mail_recipients WHERE subject = ${alert.id}`)]).toEqual([]);
  });
});
