import { Type } from '@sinclair/typebox';
import { roles } from './member.ts';
import { oneOf } from './one-of.ts';
import { define, exact } from './public-type.ts';

const userId = Type.String({ description: 'Identifier of the person.', examples: ['usr_0VMNcq2hE3kx0dTtWq8LbY'] });
const role = oneOf(roles);
const MemberData = Type.Object({ user_id: userId, role }, exact);
const InvitationData = Type.Object(
  {
    invitation_id: Type.String({
      description: 'Identifier of the invitation.',
      examples: ['inv_0VMNcq2hE3kx0dTtWq8LbY'],
    }),
    role,
  },
  exact,
);

/** What the owner of an account sees of its members and invitations. Names and addresses of people are not in the log. */
export const publicMemberTypes = {
  'member.joined': define({
    summary: 'A person became a member of the account.',
    entries: ['member_joined'],
    data: MemberData,
    dataOf: ({ data: { user, role } }) => ({ user_id: user, role }),
  }),
  'member.role_changed': define({
    summary: 'A member of the account got another role.',
    entries: ['member_role_set'],
    data: MemberData,
    dataOf: ({ data: { user, role } }) => ({ user_id: user, role }),
  }),
  'member.removed': define({
    summary: 'A person left the account or was removed from it.',
    entries: ['member_removed'],
    data: Type.Object({ user_id: userId }, exact),
    dataOf: ({ data: { user } }) => ({ user_id: user }),
  }),
  'invitation.created': define({
    summary: 'Someone was invited to the account.',
    entries: ['invitation_created'],
    data: InvitationData,
    dataOf: ({ data: { invitation, role } }) => ({ invitation_id: invitation, role }),
  }),
  'invitation.revoked': define({
    summary: 'An invitation was revoked.',
    entries: ['invitation_revoked'],
    data: InvitationData,
    dataOf: ({ data: { invitation, role } }) => ({ invitation_id: invitation, role }),
  }),
  'invitation.accepted': define({
    summary: 'A person accepted an invitation.',
    entries: ['invitation_accepted'],
    data: InvitationData,
    dataOf: ({ data: { invitation, role } }) => ({ invitation_id: invitation, role }),
  }),
};
