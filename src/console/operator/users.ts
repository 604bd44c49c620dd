import { type Static, Type as t } from '@sinclair/typebox';
import type { Caller } from '../../accounts/admission.ts';
import type { Operation } from '../../api/http/operation.ts';
import { json } from '../../api/http/responses.ts';
import type { Service } from '../../api/service.ts';
import { invalid } from '../../lib/errors.ts';
import { withSearchTimeout } from '../../operator/deadline.ts';
import { type ListedUser as Found, listUsers, requireListedUser } from '../../operator/users.ts';
import { createResetLink, disableUser, enableUser, setOperator } from '../../people/disable.ts';
import { urlOfLink } from '../../people/links.ts';
import type { Origin } from '../../people/security-changes.ts';
import { securityMailOf } from '../people/origin.ts';
import { isoOf, listQuery, operatorOperation } from './define.ts';
import { ListedUser, pageOf, ResetLink, SignUp } from './schemas.ts';

const params = { id: 'Identifier of the person, `usr_…`.' };

/** People of all accounts, and who can become one. */
export const userOperations = (service: Service): Operation[] => [
  list(service),
  change(service),
  resetLink(service),
  signUp(service),
];

const presentUser = (user: Found, self: string): Static<typeof ListedUser> => ({
  id: user.id,
  name: user.name,
  email: user.email,
  is_operator: user.is_operator,
  is_disabled: user.disabled_at !== null,
  is_you: user.id === self,
  has_password: user.has_password,
  created_at: user.created_at.toISOString(),
  last_signed_in_at: isoOf(user.last_signed_in_at),
  accounts: user.accounts,
});

/** An operator, whose device is of no interest to the person. */
const operatorsOrigin = (service: Service, { actor }: Caller): Origin => ({
  actor,
  now: service.clock(),
  mail: securityMailOf(service),
});

const list = ({ sql }: Service) =>
  operatorOperation({
    operationId: 'listUsers',
    method: 'GET',
    path: '/v1/users',
    summary: 'List people, newest first, by name or address',
    query: t.Object(listQuery),
    schema: pageOf(ListedUser),
    async handle({ caller, query: { search, after } }) {
      const listing = { search: search?.trim(), after };
      const { data, next } = await withSearchTimeout(sql, (tx) => listUsers(tx, listing));
      return json(200, { data: data.map((user) => presentUser(user, caller.actor)), next });
    },
  });

const change = (service: Service) =>
  operatorOperation({
    operationId: 'changeUser',
    method: 'PATCH',
    path: '/v1/users/:id',
    summary: 'Disable or enable a person, or change whether the person is an operator',
    params,
    body: t.Object(
      { is_disabled: t.Optional(t.Boolean()), is_operator: t.Optional(t.Boolean()) },
      { additionalProperties: false, minProperties: 1 },
    ),
    schema: ListedUser,
    async handle({ caller, params: { id = '' }, body: { is_disabled, is_operator } }) {
      const { sql } = service;
      // The session that asks would end with it.
      if (is_disabled === true && id === caller.actor)
        throw invalid([{ field: 'is_disabled', message: 'is_disabled: you cannot disable yourself.' }]);
      const by = operatorsOrigin(service, caller);
      if (is_operator !== undefined) await setOperator(sql, id, is_operator, by);
      if (is_disabled !== undefined) await (is_disabled ? disableUser : enableUser)(sql, id, by);
      return json(200, presentUser(await requireListedUser(sql, id), caller.actor));
    },
  });

const resetLink = (service: Service) =>
  operatorOperation({
    operationId: 'createResetLink',
    method: 'POST',
    path: '/v1/users/:id/reset-link',
    summary: 'Create a link with which a person sets a new password, and mail it if SMTP_URL is set',
    params,
    schema: ResetLink,
    status: 201,
    async handle({ caller, params: { id = '' } }) {
      const { sql, addresses } = service;
      const user = await requireListedUser(sql, id);
      const link = await createResetLink(sql, user.id, operatorsOrigin(service, caller));
      const url = urlOfLink(addresses.publicUrl, 'reset', link.token);
      const { expires_at, isMailed } = link;
      const answer = { url, expires_at: expires_at.toISOString(), is_mailed: isMailed };
      return json(201, answer satisfies Static<typeof ResetLink>);
    },
  });

const signUp = ({ signup, signupPlan }: Service) =>
  operatorOperation({
    operationId: 'readSignUp',
    method: 'GET',
    path: '/v1/sign-up',
    summary: 'Read who can get a user',
    schema: SignUp,
    async handle() {
      return json(200, { sign_up: signup, plan: signupPlan } satisfies Static<typeof SignUp>);
    },
  });
