import { type Static, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../events/one-of.ts';
import { modes } from '../../events/plans.ts';
import { findSession, type Session } from '../accounts/console-sessions.ts';
import { endOtherSessions, listSessions } from '../accounts/other-sessions.ts';
import { createSignInLink } from '../accounts/sign-in-links.ts';
import { type Operation, operation } from '../api/http/operation.ts';
import { json } from '../api/http/responses.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { noteEndedSessions } from '../people/security-changes.ts';
import type { Console } from './context.ts';
import { sessionTokenOf } from './cookies.ts';
import { originOf } from './people/origin.ts';

const tag = 'Account';
const time = t.String({ format: 'date-time' });

export const ConsoleSession = t.Object({
  id: t.String(),
  modes: t.Array(oneOf(modes)),
  device: t.String(),
  browser: t.String(),
  is_own_device: t.Boolean(),
  is_new_device: t.Boolean(),
  is_current: t.Boolean(),
  created_at: time,
  last_used_at: time,
  ends_at: time,
});
const ConsoleSessions = t.Object({ data: t.Array(ConsoleSession) });
const EndedSessions = t.Object({ ended: t.Array(t.String()) });
export const PhoneLink = t.Object({ token: t.String(), expires_at: time });

/** The session of the request, with its token; throws 401. */
export async function ownSession({ service }: Console, headers: Headers): Promise<{ token: string; session: Session }> {
  const token = sessionTokenOf(headers, service.addresses.publicUrl);
  const session = token === undefined ? undefined : await findSession(service.sql, token, service.clock());
  if (token === undefined || session === undefined) throw new Refusal('unauthorized', 'Sign in to the console first.');
  return { token, session };
}

/** Operations of the console on its own sessions. */
export const sessionOperations = (console: Console): Operation[] => [
  list(console),
  end(console),
  endOthers(console),
  createPhoneLink(console),
];

const list = (console: Console): Operation =>
  operation({
    operationId: 'listConsoleSessions',
    method: 'GET',
    path: '/v1/sessions',
    tag,
    summary: 'List console sessions',
    description:
      'For the console only. People see their own sessions, in all accounts. A session with only a test key sees no session with a live key.',
    success: { status: 200, description: 'The sessions, last used first.', schema: ConsoleSessions },
    errors: [],
    async handle({ headers }) {
      const { sql, clock } = console.service;
      const { session: own } = await ownSession(console, headers);
      const sessions = await listSessions(sql, own, clock());
      const data = sessions.map(({ created_at, last_used_at, ends_at, ...session }) => ({
        ...session,
        is_current: session.id === own.id,
        created_at: created_at.toISOString(),
        last_used_at: last_used_at.toISOString(),
        ends_at: ends_at.toISOString(),
      }));
      return json(200, { data } satisfies Static<typeof ConsoleSessions>);
    },
  });

const end = (console: Console): Operation =>
  operation({
    operationId: 'endConsoleSession',
    method: 'DELETE',
    path: '/v1/sessions/:id',
    tag,
    summary: 'End another console session',
    description: 'For the console only.',
    params: { id: 'Identifier of the session, `sess_…`.' },
    success: { status: 200, description: 'The session is ended.', schema: EndedSessions },
    errors: ['not_found'],
    async handle({ headers, caller, params: { id = '' } }) {
      const { session } = await ownSession(console, headers);
      const { sql, clock } = console.service;
      const ended = await endOtherSessions(sql, session, { id, actor: caller.actor, now: clock() });
      if (ended.length === 0) throw notFound('session');
      return endedResponse(console, session, ended, headers);
    },
  });

const endOthers = (console: Console): Operation =>
  operation({
    operationId: 'endOtherConsoleSessions',
    method: 'DELETE',
    path: '/v1/sessions',
    tag,
    summary: 'End all other console sessions',
    description: 'For the console only.',
    success: { status: 200, description: 'The sessions that were ended.', schema: EndedSessions },
    errors: [],
    async handle({ headers, caller }) {
      const { session } = await ownSession(console, headers);
      const { sql, clock } = console.service;
      const ended = await endOtherSessions(sql, session, { actor: caller.actor, now: clock() });
      return endedResponse(console, session, ended, headers);
    },
  });

async function endedResponse(
  { service, log }: Console,
  { id, account, user }: Session,
  ended: string[],
  headers: Headers,
) {
  if (user !== null) await noteEndedSessions(service.sql, user.id, ended, originOf(service, headers, user.id));
  log.info({ account: account.id, session: id, ended }, 'console sessions ended by another session');
  return json(200, { ended } satisfies Static<typeof EndedSessions>);
}

const createPhoneLink = (console: Console): Operation =>
  operation({
    operationId: 'createPhoneLink',
    method: 'POST',
    path: '/v1/sessions/phone',
    tag,
    summary: 'Create a link that signs in a phone',
    description: 'For the console only: valid once, for 2 minutes, for the person or with the keys of this session.',
    success: { status: 201, description: 'The token of the link.', schema: PhoneLink },
    errors: [],
    async handle({ headers }) {
      const { sql, clock } = console.service;
      const { token: sessionToken, session } = await ownSession(console, headers);
      const link = await createSignInLink(sql, { sessionToken, account: session.account.id, now: clock() });
      return json(201, { token: link.token, expires_at: link.expires_at.toISOString() } satisfies Static<
        typeof PhoneLink
      >);
    },
  });
