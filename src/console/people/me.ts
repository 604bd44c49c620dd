import { type Static, Type as t } from '@sinclair/typebox';
import { admitted, type Caller, countInWindow } from '../../accounts/admission.ts';
import { endSessionsOf } from '../../accounts/other-sessions.ts';
import { requireProof } from '../../accounts/roles.ts';
import { type Operation, operation } from '../../api/http/operation.ts';
import { json } from '../../api/http/responses.ts';
import { Deleted, exact, orNull } from '../../api/http/schemas.ts';
import { type FieldError, invalid, Refusal } from '../../lib/errors.ts';
import { hashPassword } from '../../lib/passwords.ts';
import type { Sql, Transaction } from '../../lib/sql.ts';
import { checkPassword } from '../../people/check-password.ts';
import { credentialsOf } from '../../people/credentials.ts';
import { deleteUser } from '../../people/delete.ts';
import { exportUser } from '../../people/export.ts';
import { listPasskeys, type Passkey } from '../../people/passkeys.ts';
import { problemWithPassword } from '../../people/password-rules.ts';
import { noteChange, type Origin } from '../../people/security-changes.ts';
import { findUser, readPerson, storePassword, type User, updateUser } from '../../people/users.ts';
import type { Console } from '../context.ts';
import { credentialFields, type OwnPasskey } from './credential-schemas.ts';
import { originOf } from './origin.ts';

const tag = 'Account';
const description = 'For the console only, and only for people.';

export const Me = t.Object(
  {
    id: t.String(),
    name: t.String(),
    email: t.String(),
    has_password: t.Boolean(),
    created_at: t.String({ format: 'date-time' }),
    ...credentialFields,
  },
  exact,
);

export const MeChange = t.Object(
  {
    name: t.Optional(t.String({ maxLength: 1_000 })),
    email: t.Optional(t.String({ maxLength: 1_000 })),
    password: t.Optional(
      t.Object(
        { current: t.Optional(orNull(t.String({ maxLength: 1_000 }))), new: t.String({ maxLength: 1_000 }) },
        exact,
      ),
    ),
  },
  exact,
);

/** Operations of people on themselves. */
export const meOperations = (console: Console): Operation[] => [
  getMe(console),
  updateMe(console),
  exportMe(console),
  deleteMe(console),
];

/** The person who has signed in; throws 404 for a session with keys. */
export async function requireUser(sql: Sql, caller: Caller): Promise<User> {
  const user = caller.user === undefined ? undefined : await findUser(sql, caller.user);
  if (user === undefined) throw new Refusal('not_found', 'You are signed in with an API key, not as a person.');
  return user;
}

export const presentPasskey = ({ created_at, last_used_at, ...passkey }: Passkey): Static<typeof OwnPasskey> => ({
  ...passkey,
  created_at: created_at.toISOString(),
  last_used_at: last_used_at?.toISOString() ?? null,
});

/** The person, with everything that they sign in with. */
async function present({ service: { sql }, site }: Console, caller: Caller): Promise<Static<typeof Me>> {
  const { id, name, email, password_hash, created_at } = await requireUser(sql, caller);
  const [credentials, passkeys] = await Promise.all([credentialsOf(sql, id), listPasskeys(sql, id)]);
  return {
    id,
    name,
    email,
    has_password: password_hash !== null,
    created_at: created_at.toISOString(),
    passkeys: passkeys.map(presentPasskey),
    passkey_problem: 'reason' in site ? site.reason : null,
    ...credentials,
  };
}

const getMe = (console: Console): Operation =>
  operation({
    operationId: 'getMe',
    method: 'GET',
    path: '/v1/me',
    tag,
    summary: 'Get the person who has signed in',
    description,
    success: { status: 200, description: 'The person.', schema: Me },
    errors: ['not_found'],
    handle: async ({ caller }) => json(200, await present(console, caller)),
  });

const updateMe = (console: Console): Operation =>
  operation({
    operationId: 'updateMe',
    method: 'PATCH',
    path: '/v1/me',
    tag,
    summary: 'Change name, e-mail address or password',
    description: `${description} A new password ends all other sessions of the person.`,
    body: MeChange,
    success: { status: 200, description: 'The person after the change.', schema: Me },
    errors: ['invalid_request', 'not_found', 'conflict', 'reauthentication_required'],
    async handle({ caller, headers, body }) {
      const { sql } = console.service;
      const user = await requireUser(sql, caller);
      const { person, errors } = readPerson({ name: body.name ?? user.name, email: body.email ?? user.email });
      refuseInvalid(errors);
      if (person.email !== user.email) requireProof(caller);
      if (body.password !== undefined) await countGuess(sql, user);
      const passwordHash = body.password && (await readPassword(user, person, body.password, caller));
      const origin = originOf(console.service, headers, user.id);
      await sql.begin((tx) => change(tx, user, { person, passwordHash }, origin));
      if (passwordHash !== undefined) {
        const by = { actor: user.id, now: origin.now, except: caller.session };
        await endSessionsOf(sql, user.id, { ...by, cause: 'other_session' });
      }
      return json(200, await present(console, caller));
    },
  });

interface Change {
  person: { name: string; email: string };
  passwordHash: string | undefined;
}

async function change(
  tx: Transaction,
  { id: user, email, password_hash }: User,
  { person, passwordHash }: Change,
  origin: Origin,
): Promise<void> {
  await updateUser(tx, user, person);
  // The address before is told: the person at the new one may be another.
  if (person.email.toLowerCase() !== email.toLowerCase())
    await noteChange(tx, { user, change: 'email_changed', detail: person.email, email }, origin);
  if (passwordHash === undefined) return;
  await storePassword(tx, user, passwordHash);
  await noteChange(tx, { user, change: password_hash === null ? 'password_set' : 'password_changed' }, origin);
}

/** Guesses of the current password in a minute. */
const maxGuesses = 10;

async function countGuess(sql: Sql, { id }: User): Promise<void> {
  const window = await countInWindow(sql, `${id}/password`);
  const { refusal } = admitted(maxGuesses, window, undefined, undefined, 'changes of the password');
  if (refusal !== undefined) throw refusal;
}

/** The hash of the new password. Who has none yet proves the session instead of giving the current one. */
async function readPassword(
  user: User,
  person: { name: string; email: string },
  { current, new: wanted }: { current?: string | null; new: string },
  caller: Caller,
): Promise<string> {
  const problem = problemWithPassword(wanted, person);
  if (problem !== undefined) refuseInvalid([{ field: 'password.new', message: `The new password ${problem}.` }]);
  if (user.password_hash === null) requireProof(caller);
  else if (!(await checkPassword(user, current ?? '')))
    refuseInvalid([{ field: 'password.current', message: 'This is not your current password.' }]);
  return hashPassword(wanted);
}

function refuseInvalid([first, ...more]: FieldError[]): void {
  if (first !== undefined) throw invalid([first, ...more]);
}

const exportMe = ({ service: { sql } }: Console): Operation =>
  operation({
    operationId: 'exportMe',
    method: 'GET',
    path: '/v1/me/export',
    tag,
    summary: 'Export what is stored about the person who has signed in',
    description,
    success: { status: 200, description: 'The data of the person.', schema: t.Record(t.String(), t.Unknown()) },
    errors: ['not_found', 'reauthentication_required'],
    async handle({ caller }) {
      const { id } = await requireUser(sql, caller);
      return json(200, await exportUser(sql, id), { 'content-disposition': 'attachment; filename="my-data.json"' });
    },
  });

const deleteMe = ({ service: { sql, clock } }: Console): Operation =>
  operation({
    operationId: 'deleteMe',
    method: 'DELETE',
    path: '/v1/me',
    tag,
    summary: 'Delete the person who has signed in',
    description: `${description} The log keeps the id, which then means a former member. The last owner of an account cannot be deleted.`,
    success: { status: 200, description: 'The person is deleted.', schema: Deleted },
    errors: ['not_found', 'last_owner', 'reauthentication_required'],
    async handle({ caller }) {
      const { id } = await requireUser(sql, caller);
      await deleteUser(sql, id, { actor: id, now: clock() });
      return json(200, { deleted: true, id });
    },
  });
