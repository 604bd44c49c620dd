import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';

/** What a member of an account may do: all of it, change codes, or read. Each includes those after it. */
export const roles = ['owner', 'editor', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Whether a member with the role `own` may do what needs `needed`. */
export const includesRole = (own: Role, needed: Role): boolean => roles.indexOf(own) <= roles.indexOf(needed);

const exact = { additionalProperties: false };
const user = Type.String();
const role = oneOf(roles);
const invitation = Type.Object({ invitation: Type.String(), role }, exact);

/** Members and invitations of an account, in its stream. Names and addresses of people are never in the log. */
export const memberEvents = {
  member_joined: defineEvent(1, Type.Object({ user, role }, exact)),
  member_role_set: defineEvent(1, Type.Object({ user, role }, exact)),
  member_removed: defineEvent(1, Type.Object({ user }, exact)),
  invitation_created: defineEvent(1, invitation),
  invitation_revoked: defineEvent(1, invitation),
  invitation_accepted: defineEvent(1, invitation),
};

export type MemberEvent = EventOf<typeof memberEvents>;

export interface Member {
  account: string;
  user_id: string;
  role: Role;
  joined_at: Date;
}

/** Whether the account would have no owner without this member as one. */
export const isLastOwner = (members: readonly Member[], user: string): boolean =>
  members.some((member) => member.user_id === user && member.role === 'owner') &&
  members.every((member) => member.user_id === user || member.role !== 'owner');

export const joinAccount = (members: readonly Member[], user: string, role: Role): MemberEvent[] =>
  members.some(({ user_id }) => user_id === user) ? [] : [{ type: 'member_joined', data: { user, role } }];

export const setRole = (member: Member, role: Role): MemberEvent[] =>
  member.role === role ? [] : [{ type: 'member_role_set', data: { user: member.user_id, role } }];
