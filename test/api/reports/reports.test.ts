import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { suspend } from '../../../src/accounts/accounts.ts';
import { dueReports, mailReport, type ReportMailer } from '../../../src/api/reports/mail-reports.ts';
import { addressesOf, readConfig } from '../../../src/config/config.ts';
import { Outbox } from '../../../src/mail/outbox.ts';
import { replayState } from '../../../src/maintenance/replay-state.ts';
import { Renderer } from '../../../src/render/renderer.ts';
import { created, type Json } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { scanned } from '../../support/scans.ts';
import type { TestAccount } from '../../support/service.ts';
import { retrying, useFilledWarehouse } from '../../support/warehouse.ts';

const wednesday = new Date('2026-03-11T10:20:30.456Z');
let now = wednesday;
beforeEach(() => {
  now = wednesday;
});
const { service, store } = useFilledWarehouse({ clock: () => now });
const renderer = new Renderer();
afterAll(() => renderer.close());

let account: TestAccount;
let menu: Json;
let parts: ReportMailer;

beforeAll(async () => {
  const { sql } = service.database;
  account = await service.account();
  menu = await created(account.live, { name: 'Menu', tags: ['Summer'] });
  const scans = Array.from({ length: 30 }, (_, i) => ({
    ...scanned({ account: account.id, code: menu.id, occurred_at: new Date(`2026-03-0${2 + (i % 8)}T12:00:00Z`) }),
    position: i + 1,
    is_unique: true,
  }));
  await store(scans);
  const addresses = addressesOf(readConfig({ PUBLIC_URL: 'https://qr.example.com' }), 0);
  parts = { sql, warehouse: service.warehouse, clock: () => now, addresses, mail: new Outbox(() => now), renderer };
});

const report = async (fields: object = {}): Promise<Json> => {
  const body = {
    name: 'Weekly',
    every: 'week',
    timezone: 'UTC',
    qr_ids: [menu.id],
    to: ['ada@example.com'],
    ...fields,
  };
  const response = await account.live.post('/v1/reports', body);
  expect(response.status, JSON.stringify(response.body)).toBe(201);
  return response.body;
};

const mailsOf = (id: string) => service.database.sql<Json[]>`
  SELECT recipient, subject, key, headers, plain_text,
    (SELECT encode(content, 'base64') FROM mail_attachments WHERE mail = mails.id) AS file
  FROM mails WHERE starts_with(key, ${`report/${id}/`}) ORDER BY id`;

const fileOf = (mail: Json) => Buffer.from(mail?.file, 'base64').toString('latin1');

/** Makes all reports that are due, as `times` processes at once. */
const mailDue = async (times = 1) => {
  const due = await dueReports(service.database.sql, now, 100);
  await eventually(() =>
    Promise.all(due.flatMap((one) => Array.from({ length: times }, () => mailReport(parts, one)))),
  );
};

const remove = (id: string) => account.live.send(`/v1/reports/${id}`, { method: 'DELETE' });

describe('settings', () => {
  test('a report is created, read, changed and removed; addresses are not in the log', async () => {
    const made = await report({ to: ['Ada@Example.com', 'grace@example.com', 'ada@example.com'] });
    expect(made).toMatchObject({
      name: 'Weekly',
      every: 'week',
      format: 'pdf',
      language: 'en',
      qr_ids: [menu.id],
      tags: null,
      to: ['ada@example.com', 'grace@example.com'],
      unsubscribed: [],
      undelivered: [],
      is_mailed: false,
      next_at: '2026-03-16T06:00:00.000Z',
      last_at: null,
    });
    const changed = await account.live.send(`/v1/reports/${made.id}`, {
      method: 'PATCH',
      body: JSON.stringify({ every: 'month', timezone: 'Asia/Tokyo', tags: ['Summer'], to: ['eve@example.com'] }),
      headers: { 'content-type': 'application/json' },
    });
    expect(changed.body).toMatchObject({
      every: 'month',
      qr_ids: null,
      tags: ['summer'],
      to: ['eve@example.com'],
      next_at: '2026-03-31T21:00:00.000Z',
    });
    expect((await account.live.get(`/v1/reports/${made.id}`)).body).toEqual(changed.body);

    expect((await account.test.get(`/v1/reports/${made.id}`)).status).toBe(404);
    const events = await service.database.sql<{ type: string; data: unknown }[]>`
      SELECT type, data FROM events WHERE stream = ${account.id} AND data ->> 'report' = ${made.id} ORDER BY position`;
    expect(events.map(({ type }) => type)).toEqual(['report_created', 'report_changed']);
    expect(JSON.stringify(events)).not.toMatch(/example\.com/);
    expect((await replayState(service.database.sql)).corrected).toBe(0);
    expect((await remove(made.id)).status).toBe(200);
    expect((await account.live.get(`/v1/reports/${made.id}`)).status).toBe(404);
    expect([...(await service.database.sql`SELECT FROM mail_recipients WHERE subject = ${made.id}`)]).toEqual([]);
  });

  test('wrong fields are named', async () => {
    const body = { name: 'x', every: 'week', qr_ids: [menu.id], to: ['ada@example.com'] };
    const refused = async (fields: object) =>
      (await account.live.post('/v1/reports', { ...body, ...fields })).body.error;
    expect(await refused({ to: ['ada'] })).toMatchObject({ details: [{ field: 'to[0]' }] });
    expect(await refused({ to: ['a@example.com\r\nRCPT TO:<b@example.com>'] })).toMatchObject({
      code: 'invalid_request',
    });
    expect(await refused({ to: Array.from({ length: 21 }, (_, i) => `a${i}@example.com`) })).toMatchObject({
      details: [{ field: 'to' }],
    });
    expect(await refused({ timezone: 'Mars' })).toMatchObject({ details: [{ field: 'timezone' }] });
    expect(await refused({ tags: ['a'] })).toMatchObject({ details: [{ field: 'qr_ids' }] });
    expect(await refused({ qr_ids: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] })).toMatchObject({ details: [{ field: 'qr_ids' }] });
    expect(await refused({ every: 'day' })).toMatchObject({ details: [{ field: 'every' }] });
    expect(await refused({ language: 'xx' })).toMatchObject({ details: [{ field: 'language' }] });
  });

  test('a language whose letters PDF files lack is refused for them, and taken for CSV', async () => {
    const patch = (id: string, fields: object) => account.live.patch(`/v1/reports/${id}`, fields);
    const made = await report({ language: 'ja', format: 'csv' });
    const refused = await patch(made.id, { format: 'pdf' });
    expect(refused.body.error.details).toMatchObject([
      { field: 'language', message: expect.stringMatching(/^language ja cannot be written in PDF files.*csv/) },
    ]);
    expect((await patch(made.id, { format: 'pdf', language: 'pl' })).body).toMatchObject({ language: 'pl' });
    expect((await patch(made.id, { language: 'ar' })).status).toBe(400);
    const preview = await account.live.get(`/v1/reports/preview.pdf?language=zh&qr_ids=${menu.id}`);
    expect(preview.body.error.details).toMatchObject([{ field: 'language' }]);
    expect((await replayState(service.database.sql)).corrected).toBe(0);
    await remove(made.id);
  });

  test('a report can be changed after one of its codes was deleted', async () => {
    const gone = await created(account.live, { name: 'Gone' });
    const made = await report({ qr_ids: [menu.id, gone.id] });
    await account.live.delete(`/v1/qrcodes/${gone.id}`);
    const { status, body } = await account.live.patch(`/v1/reports/${made.id}`, { name: 'Still', qr_ids: made.qr_ids });
    expect(status, JSON.stringify(body)).toBe(200);
    await remove(made.id);
  });

  test('a preview is the last period as PDF', async () => {
    const path = `/v1/reports/preview.pdf?every=week&timezone=UTC&qr_ids=${menu.id}`;
    const response = await eventually(async () => {
      const got = await fetch(`${service.urls[0]}${path}`, {
        headers: { authorization: `Bearer ${account.keys.live}` },
      });
      expect(got.status).toBe(200);
      return got;
    });
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(response.headers.get('content-disposition')).toBe('inline; filename="preview-2026-03-02.pdf"');
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toMatch(/^%PDF-1\.4[\s\S]+%%EOF\n$/);
    expect((await retrying(account.live).get('/v1/reports/preview.pdf?every=week')).status).toBe(400);
  });
});

describe('mails', () => {
  test('each period is mailed once to each recipient, however many processes do it', async () => {
    const { id } = await report({ format: 'csv', to: ['ada@example.com', 'grace@example.com'] });
    await mailDue();
    expect([...(await mailsOf(id))]).toEqual([]);
    now = new Date('2026-03-16T06:00:00Z');
    await mailDue(4);
    await mailDue(2);
    const mails = await mailsOf(id);
    expect(mails.map(({ recipient }) => recipient)).toEqual(['ada@example.com', 'grace@example.com']);
    expect(mails[0]).toMatchObject({ subject: 'Weekly: 9 – 15 March 2026' });
    expect(fileOf(mails[0])).toContain('period,2026-03-09/2026-03-15,3,3,27');
    expect(mails[0]?.plain_text).toContain('Scans: 3 (−89 %)');
    const url = /https:\/\/qr\.example\.com\/u\/[0-9A-Za-z]{52}/.exec(mails[0]?.plain_text)?.[0];
    expect(mails[0]?.headers).toEqual({
      'List-Unsubscribe': `<${url}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    expect(mails[1]?.headers).not.toEqual(mails[0]?.headers);
    expect((await account.live.get(`/v1/reports/${id}`)).body).toMatchObject({
      last_at: '2026-03-16T06:00:00.000Z',
      next_at: '2026-03-23T06:00:00.000Z',
    });
    await remove(id);
    expect([...(await mailsOf(id))]).toEqual([]);
  });

  test('a report in German is German: subject, text, names of countries and the file', async () => {
    const { id } = await report({ language: 'de' });
    const csv = await report({ language: 'de', format: 'csv' });
    now = new Date('2026-03-16T06:00:00Z');
    await mailDue();
    const [mail] = await mailsOf(id);
    expect(mail?.subject).toMatch(/^Weekly: 9\.\s?–\s?15\. März 2026$/u);
    expect(mail?.plain_text).toContain('Wochenbericht: ');
    expect(mail?.plain_text).toContain('Besucher: 3 (−89 %)');
    expect(mail?.plain_text).toMatch(/\nAbbestellen: https:/);
    expect(fileOf(mail)).toMatch(/^%PDF-1\.4/);
    const [table] = await mailsOf(csv.id);
    expect(Buffer.from(table?.file, 'base64').toString()).toContain('countries,Deutschland,3,,');
    expect(fileOf(table), 'heads of columns are for programs').toMatch(/^table,name,scans,visitors,scans_before/);
    await Promise.all([remove(id), remove(csv.id)]);
  });

  test('what fails half-way leaves nothing behind, and is made later', async () => {
    const { id } = await report({ to: ['ada@example.com', 'grace@example.com'] });
    now = new Date('2026-03-16T06:00:00Z');
    const [due] = (await dueReports(service.database.sql, now, 100)).filter((one) => one.id === id);
    let queued = 0;
    const failing = new (class extends Outbox {
      override enqueue(...mail: Parameters<Outbox['enqueue']>) {
        if (++queued === 2) throw new Error('killed');
        return super.enqueue(...mail);
      }
    })(() => now);
    await expect(
      eventually(async () => {
        const failure = await mailReport({ ...parts, mail: failing }, due as NonNullable<typeof due>).catch(
          (error) => error,
        );
        if (queued < 2) throw new Error('not made yet');
        return failure;
      }),
    ).resolves.toMatchObject({ message: 'killed' });
    expect([...(await mailsOf(id))]).toEqual([]);
    await mailDue();
    expect((await mailsOf(id)).length).toBe(2);
    expect(fileOf((await mailsOf(id))[0])).toMatch(/^%PDF-1\.4/);
    await remove(id);
  });

  test('periods that were missed are mailed late, each once, but none that is older than a month', async () => {
    const { id } = await report({ format: 'csv' });
    now = new Date('2026-05-13T12:00:00Z');
    for (let i = 0; i < 12; i++) await mailDue();
    const periods = (await mailsOf(id)).map(({ key }) => key.split('/')[2]);
    expect(periods).toEqual(['2026-04-06', '2026-04-13', '2026-04-20', '2026-04-27', '2026-05-04']);
    await remove(id);
  });

  test('nothing is made for a suspended account', async () => {
    const other = await service.account();
    const code = await created(other.live, { name: 'Other' });
    const made = await other.live.post('/v1/reports', {
      name: 'x',
      every: 'week',
      qr_ids: [code.id],
      to: ['a@example.com'],
    });
    await suspend(service.database.sql, other.id, 'spam', now);
    const due = await dueReports(service.database.sql, new Date(made.body.next_at), 100);
    expect(due.map(({ id }) => id)).not.toContain(made.body.id);
  });
});

describe('unsubscribing', () => {
  const linkOf = async (id: string, email: string): Promise<string> => {
    const [row] = await service.database.sql<{ token: string }[]>`
      SELECT token FROM mail_recipients WHERE subject = ${id} AND email = ${email}`;
    return `${service.urls[0]}/u/${row?.token}`;
  };
  const post = (url: string, body: string) =>
    fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } });

  test('a link shows a button, and changes nothing by itself; one click ends the mails', async () => {
    const { id } = await report({ name: '<Weekly>', format: 'csv', to: ['ada@example.com', 'grace@example.com'] });
    const url = await linkOf(id, 'ada@example.com');
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('“&lt;Weekly&gt;” is mailed to ada@example.com.');
    const inFrench = await fetch(url, { headers: { 'accept-language': 'fr' } });
    expect(await inFrench.text()).toMatch(/<html lang="fr" dir="ltr">[\s\S]*<button>Se désabonner<\/button>/);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await account.live.get(`/v1/reports/${id}`)).body.unsubscribed).toEqual([]);

    const done = await post(url, 'List-Unsubscribe=One-Click');
    expect(done.status).toBe(200);
    expect(await done.text()).toContain('is no longer mailed to ada@example.com');
    // Neither the owner's next change nor removing and adding the address subscribes it again.
    for (const to of [['grace@example.com'], ['ada@example.com', 'grace@example.com']])
      await account.live.send(`/v1/reports/${id}`, {
        method: 'PATCH',
        body: JSON.stringify({ to }),
        headers: { 'content-type': 'application/json' },
      });
    expect((await account.live.get(`/v1/reports/${id}`)).body.unsubscribed).toEqual(['ada@example.com']);
    now = new Date((await account.live.get(`/v1/reports/${id}`)).body.next_at);
    await mailDue();
    expect((await mailsOf(id)).map(({ recipient }) => recipient)).toEqual(['grace@example.com']);

    await post(url, 'subscribe=yes');
    expect((await account.live.get(`/v1/reports/${id}`)).body.unsubscribed).toEqual([]);
    await remove(id);
    expect((await fetch(url)).status).toBe(404);
  });

  test('a link of no one leads nowhere', async () => {
    for (const token of ['x', 'a'.repeat(52), '%00']) {
      expect((await fetch(`${service.urls[0]}/u/${token}`)).status).toBe(404);
      expect((await post(`${service.urls[0]}/u/${token}`, '')).status).toBe(404);
    }
  });

  test('an address that the mail server refused is named', async () => {
    const { id } = await report();
    await service.database.sql`
      INSERT INTO mails (key, account, recipient, subject, headers, bytes, status, created_at, ended_at, error)
      VALUES (${`report/${id}/2026-03-09/ada@example.com`}, ${account.id}, 'ada@example.com', '', '{}', 1, 'refused', ${now}, ${now},
        '550 no such user')`;
    expect((await account.live.get(`/v1/reports/${id}`)).body.undelivered).toEqual([
      { email: 'ada@example.com', message: '550 no such user', at: now.toISOString() },
    ]);
    await remove(id);
  });
});
