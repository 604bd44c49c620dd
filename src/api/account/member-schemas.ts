import { Type as t } from '@sinclair/typebox';
import { roles } from '../../../events/member.ts';
import { oneOf } from '../../../events/one-of.ts';
import { exact, orNull, time } from '../http/schemas.ts';

const role = oneOf(roles, {
  description: 'What the person may do: all of it (`owner`), change codes (`editor`), or read (`viewer`).',
});
const email = t.String({ description: 'E-mail address.', examples: ['ana@example.com'] });

export const Member = t.Object(
  {
    id: t.String({ description: 'Identifier of the person.', examples: ['usr_0VMNcq2hE3kx0dTtWq8LbY'] }),
    name: t.String({ examples: ['Ana Martín'] }),
    email: t.Union([t.String(), t.Null()], {
      description: 'E-mail address; null for a caller who is not owner, except their own.',
      examples: ['ana@example.com'],
    }),
    role,
    joined_at: time('When the person became a member.'),
    last_signed_in_at: orNull(time('When the person last signed in; null if never.')),
    is_you: t.Boolean({ description: 'Whether it is the person who sent the request.' }),
  },
  exact,
);

export const MemberChange = t.Object({ role }, exact);

export const RemovedMember = t.Object(
  { id: t.String({ examples: ['usr_0VMNcq2hE3kx0dTtWq8LbY'] }), removed: t.Literal(true) },
  exact,
);

const invitationFields = {
  id: t.String({ description: 'Identifier of the invitation.', examples: ['inv_0VMNcq2hE3kx0dTtWq8LbY'] }),
  email,
  role,
  created_at: time('When it was created.'),
  expires_at: time('When its link stops working.'),
};

export const Invitation = t.Object(invitationFields, exact);

export const CreatedInvitation = t.Object(
  {
    ...invitationFields,
    url: t.String({
      description: 'The link to send to the person: only this response contains it. It works once, for 7 days.',
      examples: ['https://qr.example.com/console/invitation#Zr3…'],
    }),
    is_mailed: t.Boolean({
      description: 'Whether it is mailed, too: false while the operator has not set SMTP_URL, or too many mails wait.',
    }),
  },
  exact,
);

export const NewInvitation = t.Object({ email: t.String({ ...email, maxLength: 1_000 }), role }, exact);
