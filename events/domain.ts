import { type Static, Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import type { Pending } from './recorded.ts';

const exact = { additionalProperties: false };
const text = Type.String();
const orNull = Type.Union([text, Type.Null()]);

/** Files that let a phone open links of the domain in an app, as the platforms define them. */
const appLinks = Type.Object(
  { apple: Type.Optional(Type.Unknown()), android: Type.Optional(Type.Array(Type.Unknown())) },
  exact,
);
export type AppLinks = Static<typeof appLinks>;

/** What the domain answers where no code does; null for a page of the service. */
export const domainSettings = Type.Object(
  {
    root_url: orNull,
    not_found_url: orNull,
    expired_url: orNull,
    app_links: Type.Union([appLinks, Type.Null()]),
  },
  exact,
);
export type DomainSettings = Static<typeof domainSettings>;

/** A check that failed: of the TXT record, of where the domain leads, or of whether another account has the domain. */
export const domainProblem = Type.Object(
  { check: oneOf(['txt', 'reach', 'claim']), expected: text, found: text },
  exact,
);
export type DomainProblem = Static<typeof domainProblem>;

/** Why a domain was removed: by its owner, or because another account has proved that it is theirs now. */
export const removalReasons = ['removed', 'claimed'] as const;
export type RemovalReason = (typeof removalReasons)[number];

/** The name is in every event, so that an event can be read alone. */
const named = { domain: text, name: text };

/** Events of the custom domains of an account. */
export const domainEvents = {
  domain_added: defineEvent(1, Type.Object({ ...named, token: text }, exact)),
  /** The proof is complete: the domain redirects from now on. */
  domain_verified: defineEvent(1, Type.Object(named, exact)),
  /** The proof of an active domain is no longer there. The domain still redirects. */
  domain_failed: defineEvent(1, Type.Object({ ...named, problems: Type.Array(domainProblem) }, exact)),
  domain_changed: defineEvent(1, Type.Object({ ...named, from: domainSettings, to: domainSettings }, exact)),
  domain_removed: defineEvent(1, Type.Object({ ...named, reason: oneOf(removalReasons) }, exact)),
};

/** The path under which every process of the service answers for the token of a claim, on every host. */
export const proofPath = '/.well-known/scanlog/';

export type AccountDomainEvent = EventOf<typeof domainEvents>;

export const isDomainEvent = <E extends { type: string }>(event: E): event is E & AccountDomainEvent =>
  Object.hasOwn(domainEvents, event.type);

export interface Domain extends DomainSettings {
  id: string;
  account: string;
  /** In lower case and punycode, without a dot at the end. */
  name: string;
  status: 'pending' | 'active' | 'failing' | 'removed';
  /** Random for each claim; the owner proves control by putting it into the DNS. */
  token: string;
  created_at: Date;
  /** When the proof was first complete. */
  verified_at: Date | null;
  removed_at: Date | null;
}

/** Whether links of the domain redirect. */
export const isServing = ({ status }: Pick<Domain, 'status'>): boolean => status === 'active' || status === 'failing';

const noSettings: DomainSettings = { root_url: null, not_found_url: null, expired_url: null, app_links: null };

/** Returns the domain after `event`. */
export function evolveDomain(domain: Domain | undefined, event: Pending<AccountDomainEvent>): Domain {
  if (event.type === 'domain_added')
    return {
      id: event.data.domain,
      account: event.stream,
      name: event.data.name,
      status: 'pending',
      token: event.data.token,
      ...noSettings,
      created_at: event.occurred_at,
      verified_at: null,
      removed_at: null,
    };
  if (domain === undefined) throw new Error(`${event.data.domain} begins with ${event.type}, not with domain_added`);
  switch (event.type) {
    case 'domain_verified':
      return { ...domain, status: 'active', verified_at: domain.verified_at ?? event.occurred_at };
    case 'domain_failed':
      return { ...domain, status: 'failing' };
    case 'domain_changed':
      return { ...domain, ...event.data.to };
    case 'domain_removed':
      return { ...domain, status: 'removed', removed_at: event.occurred_at };
  }
}

const settingNames = ['root_url', 'not_found_url', 'expired_url', 'app_links'] as const;

const settingsOf = ({ root_url, not_found_url, expired_url, app_links }: DomainSettings): DomainSettings => ({
  root_url,
  not_found_url,
  expired_url,
  app_links,
});

/** Changes the settings that `change` has; decides nothing if they are set so already. */
export function changeDomain(domain: Domain, change: Partial<DomainSettings>): AccountDomainEvent[] {
  const from = settingsOf(domain);
  const to = { ...from, ...change };
  const isSame = settingNames.every((name) => JSON.stringify(from[name]) === JSON.stringify(to[name]));
  return isSame ? [] : [{ type: 'domain_changed', data: { domain: domain.id, name: domain.name, from, to } }];
}

/** Restarts the claim of a domain, with its token and its settings: the account came from another instance. */
export function reclaimDomain(domain: Domain): AccountDomainEvent[] {
  const { id, name, token } = domain;
  return [
    { type: 'domain_added', data: { domain: id, name, token } },
    ...changeDomain({ ...domain, ...noSettings }, settingsOf(domain)),
  ];
}

/** What the result of a check changes: nothing, if it is the status that the domain has. */
export function checkDomain({ id, name, status }: Domain, problems: DomainProblem[]): AccountDomainEvent[] {
  const domain = { domain: id, name };
  if (problems.length === 0 && (status === 'pending' || status === 'failing'))
    return [{ type: 'domain_verified', data: domain }];
  if (problems.length > 0 && status === 'active') return [{ type: 'domain_failed', data: { ...domain, problems } }];
  return [];
}
