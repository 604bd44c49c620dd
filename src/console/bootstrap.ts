import type { Session } from '../accounts/console-sessions.ts';
import { accountsOf } from '../people/members.ts';
import type { Console } from './context.ts';
import { type Bootstrap, bootstrapOf } from './pages.ts';
import { asksTimeZone } from './time-zone.ts';

/** What the console's script needs to know about a session. */
export async function bootstrapFor({ service, bundle }: Console, session: Session): Promise<Bootstrap> {
  const { sql, addresses } = service;
  const [asks, accounts] = await Promise.all([
    asksTimeZone(sql, session),
    session.user === null ? [] : accountsOf(sql, session.user.id),
  ]);
  return bootstrapOf(session, { asksTimeZone: asks, accounts: [...accounts] }, addresses, await bundle());
}
