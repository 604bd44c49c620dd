import type { Console, RequestContext } from '../context.ts';
import { askForCode } from './second-factor.ts';
import { startUserSession, type UserSession } from './start-session.ts';

/** Goes on after a person has given the right password, or has set one with a link: asks for a code where one is set up. */
export async function afterPassword(
  console: Console,
  context: RequestContext,
  { by = 'password', ...rest }: Omit<UserSession, 'by'> & { by?: 'password' | 'link' },
): Promise<Response> {
  const session = { ...rest, by };
  return (await askForCode(console, context, session)) ?? startUserSession(console, context, session);
}
