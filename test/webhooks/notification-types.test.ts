import './one-more-type.ts';
import { expect, test } from 'vitest';
import { notificationId } from '../../events/notification.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { newId } from '../../src/lib/ids.ts';
import { headOfLog } from '../../src/log/read.ts';
import { verifyDeliveries } from '../../src/maintenance/verify-deliveries.ts';
import { documentOf } from '../support/documented.ts';
import { useService } from '../support/service.ts';
import { useReceiver } from './receiver.ts';
import { codeOf, deliveriesOf, mayCallTests, newPath, scanCode, setHook, untilThereAre } from './webhook-support.ts';

const service = useService({ config: mayCallTests });
const receiver = useReceiver();

test('an entry in the table of notification types is delivered, listed, verified and documented', async () => {
  const account = await service.account();
  const { sql } = service.database;
  const code = await codeOf(account.live);
  await account.live.patch(`/v1/qrcodes/${code.id}`, { name: 'before there is a webhook' });
  const path = newPath();
  await setHook(account.live, receiver.url(path));
  const beforeRenamed = await headOfLog(sql);
  const { body: renamed } = await account.live.patch(`/v1/qrcodes/${code.id}`, { name: 'second name' });
  await scanCode(service.urls[0] as string, code);
  const received = await receiver.gets(path, 2);
  const texts = received.map(({ body }) => body);

  const expected = {
    event: 'code.renamed',
    timestamp: renamed.updated_at,
    data: { qr_id: code.id, from: 'before there is a webhook', to: 'second name' },
  };
  expect(texts, 'the fields in the order of the table').toContain(JSON.stringify(expected));
  expect(texts.map((text) => JSON.parse(text).event).toSorted()).toEqual(['code.renamed', 'scan.created']);

  await untilThereAre(sql, account.id, 2, 'delivered');
  const deliveries = await deliveriesOf(account.live);
  const bodies = deliveries.map(({ id, body }) => [id, JSON.stringify(body)]);
  expect(bodies.toSorted()).toEqual(received.map(({ id, body }) => [id, body]).toSorted());

  const { scans, differences } = await verifyDeliveries(sql, { account: account.id });
  expect([scans, differences]).toEqual([2, []]);

  // As if the log had lost the event that was delivered, and had another one in its place.
  const lost = { id: newId('evt', Date.now()), code: code.id, owner: undefined };
  const [delivered] = await sql<[{ id: string }]>`
    UPDATE webhook_deliveries SET id = ${notificationId(lost.id)}
    WHERE account = ${account.id} AND type = 'code.renamed' RETURNING id`;
  expect((await verifyDeliveries(sql, { account: account.id })).differences).toMatchObject([
    { what: 'webhooks', code: code.id, found: 'no delivery' },
    { what: 'webhooks', code: code.id, found: '1 deliveries' },
  ]);
  await sql.begin((tx) => webhooks.rewind(tx, beforeRenamed, [lost]));
  await account.live.patch(`/v1/qrcodes/${code.id}`, { name: 'third name' });
  await untilThereAre(sql, account.id, 3, 'delivered');
  const ids = (await deliveriesOf(account.live)).map(({ id }) => id);
  expect(ids, 'the delivery of the lost event is removed').not.toContain(delivered.id);
  expect((await receiver.gets(path, 4)).map(({ id }) => id)).toEqual(expect.arrayContaining(ids));

  const document = await documentOf(service.urls[0] as string);
  const { responses } = document.paths['/v1/account/webhook/deliveries']?.['get'] ?? {};
  expect(JSON.stringify(responses)).toContain('"enum":["code.renamed"]');
  expect(document.webhooks['code.renamed']?.['post']).toMatchObject({
    operationId: 'receiveCodeRenamed',
    requestBody: { content: { 'application/json': { example: { event: 'code.renamed', data: { to: 'New name' } } } } },
  });
  expect(document.paths['/v1/account/webhook']?.['get']?.description).toMatch(
    /^Every scan is POSTed as a `scan\.created` event, Every new name of a code is POSTed as a `code\.renamed` event, signed/,
  );
});
