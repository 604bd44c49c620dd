import { hashOfKey } from '../../src/accounts/keys.ts';
import { newId, newSecret } from '../../src/lib/ids.ts';
import { addMember } from '../../src/people/members.ts';
import { insertUser } from '../../src/people/users.ts';
import { openTab, type Tab } from './console.ts';
import type { TestService } from './service.ts';

export interface TestPerson {
  id: string;
  name: string;
  account: string;
  /** The session token, for a browser. */
  token: string;
  tab: Tab;
}

let people = 0;

/** A person who has signed in to the console in an account of their own. */
export async function signedInPerson(
  service: TestService,
  { isOperator = false, account }: { isOperator?: boolean; account?: string } = {},
): Promise<TestPerson> {
  const { sql } = service.database;
  const now = new Date();
  const id = newId('usr', now.getTime());
  const name = `Person ${++people}`;
  const own = account ?? (await service.account()).id;
  const token = newSecret();
  await insertUser(sql, { id, name, email: `${id}@example.com`, password_hash: null }, { now, isOperator });
  await addMember(sql, own, id, 'viewer', { actor: 'operator', now });
  // As after a sign-in, of which an address may make only a few in a minute.
  await sql`
    INSERT INTO console_sessions
      (hash, id, account, user_id, device, browser, is_own_device, created_at, last_used_at, proven_at, ends_at)
    VALUES (${hashOfKey(token)}, ${newId('sess', now.getTime())}, ${own}, ${id}, 'Mac', 'Firefox', false, ${now}, ${now},
      ${now}, ${new Date(now.getTime() + 3_600_000)})`;
  const tab = openTab(service.urls[0] as string);
  tab.cookie = `scanlog_session=${token}`;
  return { id, name, account: own, token, tab };
}
