import type { Console, RequestContext } from '../context.ts';
import { startUserSession, type UserSession } from './start-session.ts';

/** Goes on after a person has given the right password, or has set one with a link. */
export const afterPassword = (
  console: Console,
  context: RequestContext,
  { by = 'password', ...session }: Omit<UserSession, 'by'> & { by?: 'password' | 'link' },
): Promise<Response> => startUserSession(console, context, { ...session, by });
