import type { Session } from '../accounts/console-sessions.ts';
import { accountsOf } from '../people/members.ts';
import type { Console } from './context.ts';
import { type Bootstrap, bootstrapOf } from './pages.ts';
import { asksTimeZone } from './time-zone.ts';
import { waysOf } from './ways.ts';

/** What the console's script needs to know about a session. */
export async function bootstrapFor(console: Console, session: Session): Promise<Bootstrap> {
  const { service, bundle } = console;
  const { sql, addresses } = service;
  const [asks, accounts] = await Promise.all([
    asksTimeZone(sql, session),
    session.user === null ? [] : accountsOf(sql, session.user.id),
  ]);
  const { hasPasswords, hasPasskeys, provider = null } = waysOf(console);
  const ways = { has_passwords: hasPasswords, has_passkeys: hasPasskeys, provider };
  return bootstrapOf(session, { asksTimeZone: asks, accounts: [...accounts], ways }, addresses, await bundle());
}
