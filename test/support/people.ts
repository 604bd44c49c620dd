import { expect } from 'vitest';
import type { Role } from '../../events/member.ts';
import { newId } from '../../src/lib/ids.ts';
import { hashPassword } from '../../src/lib/passwords.ts';
import { addMember } from '../../src/people/members.ts';
import { insertUser } from '../../src/people/users.ts';
import { openTab, type Tab } from './console.ts';
import type { TestService } from './service.ts';

export const goodPassword = 'vrqk tulip 58 ferry';
/** One hash for all people of a test, because each costs 50 ms. */
const hash = hashPassword(goodPassword);

export interface TestPerson {
  id: string;
  email: string;
  name: string;
}

/** A person with `goodPassword`, who is a member of the account, if one is given. */
export async function person(
  { database: { sql } }: Pick<TestService, 'database'>,
  { account, role = 'owner', name = 'Ana' }: { account?: string; role?: Role; name?: string } = {},
): Promise<TestPerson> {
  const now = new Date();
  const id = newId('usr', now.getTime());
  const email = `${id.slice(-8)}@example.com`.toLowerCase();
  await insertUser(sql, { id, name, email, password_hash: await hash }, { now });
  if (account !== undefined) await addMember(sql, account, id, role, { actor: 'operator', now });
  return { id, email, name };
}

/** Signs in with `goodPassword`. */
export async function signedIn(
  { urls }: Pick<TestService, 'urls'>,
  { email }: Pick<TestPerson, 'email'>,
): Promise<Tab> {
  const tab = openTab(urls[0] as string);
  const response = await tab.form('/console/session', { email, password: goodPassword });
  expect(response.status, response.text).toBe(303);
  return tab;
}
