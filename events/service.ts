import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';

const host = Type.Object({ host: Type.String() }, { additionalProperties: false });

/** The only stream of service events. */
export const serviceStream = 'service';

/** Decisions of the operator for all accounts. */
export const serviceEvents = {
  /** No code may lead to this host or its subdomains; links that do answer 410. */
  destination_blocked: defineEvent(1, host),
  destination_unblocked: defineEvent(1, host),
};

export type ServiceEvent = EventOf<typeof serviceEvents>;

export const blockHost = (blocked: readonly string[], host: string): ServiceEvent[] =>
  blocked.includes(host) ? [] : [{ type: 'destination_blocked', data: { host } }];

export const unblockHost = (blocked: readonly string[], host: string): ServiceEvent[] =>
  blocked.includes(host) ? [{ type: 'destination_unblocked', data: { host } }] : [];

export const isServiceEvent = <E extends { type: string }>(event: E): event is E & ServiceEvent =>
  Object.hasOwn(serviceEvents, event.type);
