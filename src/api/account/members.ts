import { type Static, Type as t } from '@sinclair/typebox';
import { findAccount } from '../../accounts/accounts.ts';
import type { Caller } from '../../accounts/admission.ts';
import { requireRole } from '../../accounts/roles.ts';
import { invalid, notFound, Refusal } from '../../lib/errors.ts';
import type { Queued } from '../../mail/outbox.ts';
import {
  createInvitation,
  listInvitations,
  revokeInvitation,
  type Invitation as StoredInvitation,
} from '../../people/invitations.ts';
import { urlOfLink } from '../../people/links.ts';
import { mailInvitation } from '../../people/mails.ts';
import { changeRole, type ListedMember, listMembers, removeMember } from '../../people/members.ts';
import { problemWithEmail } from '../../people/users.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { Deleted, exact } from '../http/schemas.ts';
import type { Service } from '../service.ts';
import { CreatedInvitation, Invitation, Member, MemberChange, NewInvitation, RemovedMember } from './member-schemas.ts';

const tag = 'Account';
const memberId = { id: 'Identifier of the person, `usr_…`.' };

/** Operations on the members of the account and its invitations. */
export const memberOperations = (service: Service): Operation[] => [
  list(service),
  update(service),
  remove(service),
  listOpenInvitations(service),
  invite(service),
  revoke(service),
];

/** Members act in live mode: a leaked test key must not give live access, nor tell who they are. */
function requireLiveKey({ mode, user }: Caller): void {
  if (mode === 'live' || user !== undefined) return;
  throw new Refusal('live_key_required', 'Members belong to the account as a whole: use a live key.');
}

const presentMember = (
  { user_id, name, email, role, joined_at, last_signed_in_at }: ListedMember,
  caller: Caller,
): Static<typeof Member> => ({
  id: user_id,
  name,
  email: caller.role === 'owner' || caller.user === user_id ? email : null,
  role,
  joined_at: joined_at.toISOString(),
  last_signed_in_at: last_signed_in_at?.toISOString() ?? null,
  is_you: caller.user === user_id,
});

const list = ({ sql }: Service): Operation =>
  operation({
    operationId: 'listMembers',
    method: 'GET',
    path: '/v1/account/members',
    tag,
    summary: 'List the members of the account',
    description: 'The people who can sign in to the account, first come first.',
    success: {
      status: 200,
      description: 'The members.',
      schema: t.Object({ data: t.Array(Member) }, exact),
    },
    errors: ['live_key_required'],
    async handle({ caller }) {
      requireLiveKey(caller);
      const members = await listMembers(sql, caller.account);
      return json(200, { data: members.map((member) => presentMember(member, caller)) });
    },
  });

const update = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'updateMember',
    method: 'PATCH',
    path: '/v1/account/members/:id',
    tag,
    summary: 'Change the role of a member',
    description: 'Takes effect with the next request of the member. The last owner keeps the role.',
    params: memberId,
    body: MemberChange,
    success: { status: 200, description: 'The member after the change.', schema: Member },
    errors: ['invalid_request', 'live_key_required', 'not_found', 'last_owner', 'conflict'],
    async handle({ caller, params: { id = '' }, body: { role } }) {
      requireLiveKey(caller);
      await changeRole(sql, caller.account, id, role, { actor: caller.actor, now: clock() });
      const member = (await listMembers(sql, caller.account)).find(({ user_id }) => user_id === id);
      if (member === undefined) throw notFound('member');
      return json(200, presentMember(member, caller));
    },
  });

const remove = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'removeMember',
    method: 'DELETE',
    path: '/v1/account/members/:id',
    tag,
    summary: 'Remove a member',
    description:
      'The person is signed out of the account at once; their user stays. Owners remove others, and everyone may leave. The last owner cannot.',
    params: memberId,
    success: { status: 200, description: 'The person is no longer a member.', schema: RemovedMember },
    errors: ['live_key_required', 'not_found', 'last_owner', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      requireLiveKey(caller);
      if (id !== caller.user) requireRole(caller, 'owner');
      await removeMember(sql, caller.account, id, { actor: caller.actor, now: clock() });
      return json(200, { id, removed: true } satisfies Static<typeof RemovedMember>);
    },
  });

const presentInvitation = ({
  id,
  email,
  role,
  created_at,
  expires_at,
}: Omit<StoredInvitation, 'account' | 'invited_by'>): Static<typeof Invitation> => ({
  id,
  email,
  role,
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
});

const listOpenInvitations = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'listInvitations',
    method: 'GET',
    path: '/v1/account/invitations',
    tag,
    summary: 'List invitations',
    description: 'Invitations that can still be accepted, newest first. Their links are shown only once.',
    success: {
      status: 200,
      description: 'The invitations.',
      schema: t.Object({ data: t.Array(Invitation) }, exact),
    },
    errors: ['live_key_required'],
    async handle({ caller }) {
      requireLiveKey(caller);
      const invitations = await listInvitations(sql, caller.account, clock());
      return json(200, { data: invitations.map(presentInvitation) });
    },
  });

const invite = ({ sql, clock, addresses, mail }: Service): Operation =>
  operation({
    operationId: 'createInvitation',
    method: 'POST',
    path: '/v1/account/invitations',
    tag,
    summary: 'Invite a person',
    description:
      'Creates a link for a new member, which works once, for 7 days. Only this response contains it: send it to the person. With `SMTP_URL` it is mailed, too. Who has a user already joins with it; others create one.',
    body: NewInvitation,
    success: { status: 201, description: 'The invitation, with its link.', schema: CreatedInvitation },
    errors: ['invalid_request', 'live_key_required', 'already_member', 'quota_exceeded', 'conflict'],
    async handle({ caller, body: { email, role } }) {
      requireLiveKey(caller);
      const address = email.trim();
      const problem = problemWithEmail(address);
      if (problem !== undefined) throw invalid([{ field: 'email', message: `email ${problem}.` }]);
      const by = { actor: caller.actor, now: clock() };
      const urlOf = (token: string) => urlOfLink(addresses.publicUrl, 'invitation', token);
      const account_name = (await findAccount(sql, caller.account))?.name ?? '';
      const person = { email: address, role };
      const queued: Queued[] = [];
      const { token, ...invitation } = await createInvitation(sql, caller.account, person, by, async (tx, created) => {
        const mailed = { ...created, url: urlOf(created.token), account_name };
        if (mail !== undefined) queued.push(await mailInvitation(mail, tx, mailed));
      });
      const answer = { ...presentInvitation(invitation), url: urlOf(token), is_mailed: queued.at(-1) === 'queued' };
      return json(201, answer satisfies Static<typeof CreatedInvitation>);
    },
  });

const revoke = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'revokeInvitation',
    method: 'DELETE',
    path: '/v1/account/invitations/:id',
    tag,
    summary: 'Revoke an invitation',
    description: 'Its link stops working at once.',
    params: { id: 'Identifier of the invitation, `inv_…`.' },
    success: { status: 200, description: 'The invitation is revoked.', schema: Deleted },
    errors: ['live_key_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      requireLiveKey(caller);
      await revokeInvitation(sql, caller.account, id, { actor: caller.actor, now: clock() });
      return json(200, { deleted: true, id });
    },
  });
