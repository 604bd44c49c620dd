import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';

const host = Type.Object({ host: Type.String() }, { additionalProperties: false });

/** The only stream of service events. */
export const serviceStream = 'service';

const dropped = Type.Object(
  {
    /** Scans from before this time have left the log and the warehouse. */
    before: Type.String(),
    /** Scans that were appended after this position have not, whatever their time. */
    up_to_position: Type.Integer({ minimum: 0 }),
    scans: Type.Integer({ minimum: 1 }),
  },
  { additionalProperties: false },
);

const archived = Type.Object(
  {
    /** Scans up to this position are in archive files. */
    up_to_position: Type.Integer({ minimum: 0 }),
    scans: Type.Integer({ minimum: 1 }),
    files: Type.Integer({ minimum: 1 }),
    /** The folder, or s3://bucket/prefix. */
    location: Type.String(),
  },
  { additionalProperties: false },
);

const user = Type.String({ minLength: 1 });
const ofUser = Type.Object({ user }, { additionalProperties: false });

/** Decisions of operators for all accounts and about people, and what the service did to all accounts. */
export const serviceEvents = {
  /** No code may lead to this host or its subdomains; links that do answer 410. */
  destination_blocked: defineEvent(1, host),
  destination_unblocked: defineEvent(1, host),
  /** Scans older than SCAN_RETENTION_MONTHS were deleted. */
  scans_dropped: defineEvent(1, dropped),
  /** The oldest scans were moved to archive files, from which they are still read. */
  scans_archived: defineEvent(1, archived),
  /** A person can no longer sign in, and all of the person's sessions have ended. */
  user_disabled: defineEvent(1, ofUser),
  user_enabled: defineEvent(1, ofUser),
  /** Whether a person is an operator of the service. */
  operator_set: defineEvent(1, Type.Object({ user, to: Type.Boolean() }, { additionalProperties: false })),
  /** A link was created with which a person sets a new password. */
  reset_link_created: defineEvent(1, ofUser),
  /** The one-time codes of a person who has lost the app were turned off. */
  one_time_codes_removed: defineEvent(1, ofUser),
  /** A person was deleted, by an operator or by themselves. */
  user_deleted: defineEvent(1, ofUser),
};

export type ServiceEvent = EventOf<typeof serviceEvents>;

export const blockHost = (blocked: readonly string[], host: string): ServiceEvent[] =>
  blocked.includes(host) ? [] : [{ type: 'destination_blocked', data: { host } }];

export const unblockHost = (blocked: readonly string[], host: string): ServiceEvent[] =>
  blocked.includes(host) ? [{ type: 'destination_unblocked', data: { host } }] : [];

export const isServiceEvent = <E extends { type: string }>(event: E): event is E & ServiceEvent =>
  Object.hasOwn(serviceEvents, event.type);
