import { hashOfKey } from '../../src/accounts/keys.ts';
import { newId, newSecret } from '../../src/lib/ids.ts';
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
  await sql`
    INSERT INTO users (id, name, email, is_operator, created_at)
    VALUES (${id}, ${name}, ${`${id}@example.com`}, ${isOperator}, ${now})`;
  await sql`INSERT INTO members (account, user_id, role, joined_at) VALUES (${own}, ${id}, 'viewer', ${now})`;
  await sql`
    INSERT INTO console_sessions
      (hash, id, account, user_id, device, browser, is_own_device, created_at, last_used_at, proven_at, ends_at)
    VALUES (${hashOfKey(token)}, ${newId('sess', now.getTime())}, ${own}, ${id}, 'Mac', 'Firefox', false, ${now}, ${now},
      ${now}, ${new Date(now.getTime() + 3_600_000)})`;
  const tab = openTab(service.urls[0] as string);
  tab.cookie = `scanlog_session=${token}`;
  return { id, name, account: own, token, tab };
}
