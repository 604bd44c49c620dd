import { describe, expect, test } from 'vitest';
import { openTab } from '../support/console.ts';
import { goodPassword, person, signedIn } from '../support/people.ts';
import { useService } from '../support/service.ts';

const fields = { name: 'Ana', email: 'ana@example.com', account: 'Café Lumière', password: goodPassword };

describe('SIGNUP=open', () => {
  const service = useService({ projections: false, config: { signup: 'open', signupPlan: 'pro' } });
  const newTab = () => openTab(service.urls[0] as string);

  test('everyone can create an account, as its owner', async () => {
    const tab = newTab();
    expect((await tab.get('/console')).text).toContain('href="/console/sign-up"');
    expect((await tab.get('/console/sign-up')).status).toBe(200);
    const unnamed = await tab.form('/console/sign-up', { ...fields, account: ' ' });
    expect([unnamed.status, unnamed.text]).toEqual([400, expect.stringContaining('The name of the account must')]);
    const response = await tab.form('/console/sign-up', fields);
    expect(response.status, response.text).toBe(303);
    const account = (await tab.get('/console/api/account')).body;
    expect(account).toMatchObject({ name: 'Café Lumière', plan: 'pro' });
    expect((await tab.get('/console/api/account/members')).body.data).toMatchObject([{ role: 'owner', is_you: true }]);
    const key = await tab.send('POST', '/console/api/account/keys', { name: 'First' });
    expect((await service.client(0, key.body.key).get('/v1/account')).body.id).toBe(account.id);
    const again = await newTab().form('/console/sign-up', { ...fields, email: 'ANA@example.com' });
    expect([again.status, again.text]).toEqual([
      409,
      expect.stringContaining('Another person has this e-mail address.'),
    ]);
  });
});

describe('SIGNUP=closed', () => {
  const service = useService({ projections: false, config: { signup: 'closed' } });
  const newTab = () => openTab(service.urls[0] as string);

  test('an owner invites only people who exist', async () => {
    expect((await newTab().form('/console/sign-up', fields)).status).toBe(403);
    const account = await service.account();
    const owner = await signedIn(service, await person(service, { account: account.id }));
    const invite = async (email: string) => {
      const { body } = await owner.send('POST', '/console/api/account/invitations', { email, role: 'viewer' });
      return body.url.slice(body.url.indexOf('#') + 1);
    };
    const token = await invite('new@example.com');
    const refused = await newTab().form('/console/invitation', { token, name: 'New', password: goodPassword });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('invitation of its operator')]);
    const ben = await person(service);
    const joined = { token: await invite(ben.email), password: goodPassword };
    expect((await newTab().form('/console/invitation', joined)).status).toBe(303);
  });
});
