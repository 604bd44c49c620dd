import { expect, test } from 'vitest';
import { includesRole, type Role, roles } from '../../events/member.ts';
import { access, accessOf, type OperationId } from '../../src/api/http/access.ts';
import { created } from '../support/api.ts';
import type { Tab } from '../support/console.ts';
import { operationsOf } from '../support/documented.ts';
import { person, signedIn } from '../support/people.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });

/** Operations of the console only, which the document does not have. */
const ofConsole: [id: OperationId, method: string, path: string][] = [
  ['readScansOfSelectedQrCodes', 'POST', '/qrcodes/selection/scans'],
  ['checkShortCodes', 'POST', '/short-codes/check'],
  ['listConsoleSessions', 'GET', '/sessions'],
  ['createPhoneLink', 'POST', '/sessions/phone'],
  ['getMe', 'GET', '/me'],
  ['updateMe', 'PATCH', '/me'],
  ['exportMe', 'GET', '/me/export'],
];

test('every operation needs the role of the table, and says which', async () => {
  const { id: account } = await service.account();
  const operations = (await operationsOf(service.urls[0] as string)).map(([method, path, operation]) => {
    expect(operation['x-role'], path).toBe(accessOf(operation.operationId as OperationId).role);
    return [operation.operationId as OperationId, method, path.slice('/v1'.length)] as const;
  });
  const allowedFor = async (role: Role, tab: Tab): Promise<string[]> => {
    const allowed: string[] = [];
    for (const [id, method, path] of [...operations, ...ofConsole]) {
      const target = `/console/api${path.replaceAll(/\{\w+\}/g, 'none')}`;
      const { status, body } = await tab.send(method, target, ['GET', 'DELETE'].includes(method) ? undefined : []);
      expect(status, `${role} ${id}`).not.toBe(401);
      if (body?.error?.code !== 'insufficient_role') allowed.push(id);
      // Everyone may leave; only owners remove others.
      else if (id === 'removeMember') allowed.push(id);
      else expect(body.error.message).toContain(`needs the role ${accessOf(id).role},`);
    }
    return allowed;
  };
  const all = [...operations, ...ofConsole].map(([id]) => id);
  const expected = roles.map((role) => all.filter((id) => includesRole(role, accessOf(id).role)));
  const tabs: Tab[] = [];
  for (const role of roles) tabs.push(await signedIn(service, await person(service, { account, role })));
  expect(await Promise.all(roles.map((role, i) => allowedFor(role, tabs[i] as Tab)))).toEqual(expected);
});

test('every operation that changes something needs more than a viewer, but for what people do to themselves', () => {
  const viewers = Object.entries(access).filter(([, { role }]) => role === 'viewer');
  const changing = viewers
    .map(([id]) => id)
    .filter((id) => !/^(get|list|read|download|export|preflight|preview|resolve|draw)/.test(id));
  expect(changing).toEqual([
    'createSheet',
    'removeMember',
    'endConsoleSession',
    'endOtherConsoleSessions',
    'createPhoneLink',
    'updateMe',
    'deleteMe',
    'beginTotp',
    'confirmTotp',
    'replaceRecoveryCodes',
    'removeTotp',
    'beginPasskey',
    'addPasskey',
    'renamePasskey',
    'removePasskey',
  ]);
});

test('a viewer sees a code and cannot change it; a new role counts from the next request on', async () => {
  const account = await service.account();
  const code = await created(account.live);
  const [owner, viewer] = [
    await person(service, { account: account.id }),
    await person(service, { account: account.id, role: 'viewer' }),
  ];
  const [ownersTab, tab] = [await signedIn(service, owner), await signedIn(service, viewer)];
  const path = `/console/api/qrcodes/${code.id}`;
  expect((await tab.get(path)).body.name).toBe(code.name);
  const refused = await tab.send('PATCH', path, { name: 'Other' });
  expect([refused.status, refused.body.error]).toEqual([
    403,
    {
      code: 'insufficient_role',
      message: 'This needs the role editor, and you are viewer of this account: ask an owner for it.',
    },
  ]);
  expect((await tab.get(path)).body.name).toBe(code.name);
  const changed = await ownersTab.send('PATCH', `/console/api/account/members/${viewer.id}`, { role: 'editor' });
  expect([changed.status, changed.body.role]).toEqual([200, 'editor']);
  expect((await tab.send('PATCH', path, { name: 'Other' })).status).toBe(200);
  const [entry] = (await account.live.get(`/v1/qrcodes/${code.id}/history`)).body.data;
  expect(entry).toMatchObject({ actor: viewer.id, key_id: viewer.id, actor_name: viewer.name });
});

test('a person acts in both modes, and test codes stay apart', async () => {
  const account = await service.account();
  await created(account.test, { name: 'Test' });
  const tab = await signedIn(service, await person(service, { account: account.id }));
  const namesIn = async (mode: string) =>
    (await tab.get(`/console/api/qrcodes?mode=${mode}`)).body.data.map(({ name }: { name: string }) => name);
  expect([await namesIn('live'), await namesIn('test')]).toEqual([[], ['Test']]);
});
