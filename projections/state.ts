import { type Account, type AccountEvent, evolveAccount } from '../events/account.ts';
import { type AppliedEvent, isCodeEvent } from '../events/catalogue.ts';
import { type Code, evolveCode } from '../events/code.ts';
import { fieldNames } from '../events/code-change.ts';
import type { AppliedCodeEvent } from '../events/code-events.ts';
import type { CodeFields } from '../events/code-fields.ts';
import { type AccountDomainEvent, type Domain, evolveDomain, isDomainEvent, isServing } from '../events/domain.ts';
import { canonicalHost } from '../events/hosts.ts';
import type { Pending } from '../events/recorded.ts';
import { isServiceEvent, type ServiceEvent } from '../events/service.ts';
import { type EndpointKey, endpointKey } from '../events/webhooks/endpoint.ts';
import {
  evolveWebhook,
  isWebhookEvent,
  keyOfEvent,
  type Webhook,
  type WebhookEvent,
} from '../events/webhooks/webhook.ts';
import type { Queryable } from '../src/lib/sql.ts';
import { writeMember } from './members.ts';
import { writeShare } from './shares.ts';

/**
 * Current state: `accounts`, `api_keys`, `subscriptions`, `domains`, `codes`, `code_counts`, `blocked_hosts`, `logos`,
 * `shares` and `members`.
 *
 * Applies every event of codes, accounts and the service except erased ones, in the transaction that appends them: it never
 * lags and needs no checkpoint. A rebuild applies the same functions to the whole log (src/maintenance/replay-state.ts).
 * The values are the primary keys.
 */
export const stateTables = {
  accounts: 'id',
  api_keys: 'id',
  subscriptions: 'account, webhook',
  domains: 'id',
  codes: 'id',
  code_counts: 'account, mode, status',
  blocked_hosts: 'host',
  logos: 'id',
  shares: 'id',
  members: 'account, user_id',
} as const;

/** The rows that events change, before the events. */
export interface StateBefore {
  codes?: Code[];
  accounts?: Account[];
  webhooks?: Webhook[];
  domains?: Domain[];
}

/** Reads the rows that events change, applies the events, and writes the result. */
export async function applyState(sql: Queryable, events: AppliedEvent[]): Promise<void> {
  await writeState(sql, await readBefore(sql, events), events);
}

/**
 * Applies events to `before` and writes the result. Returns the codes as written: the codes of `before` first, then new ones in
 * the order of their events.
 */
export async function writeState(
  sql: Queryable,
  before: StateBefore,
  events: AppliedEvent[],
): Promise<{ codes: Code[] }> {
  const ofCodes: AppliedCodeEvent[] = [];
  const ofAccounts: Pending<AccountEvent>[] = [];
  const ofService: Pending<ServiceEvent>[] = [];
  for (const event of events) {
    if (isCodeEvent(event)) ofCodes.push(event);
    else if (isServiceEvent(event)) ofService.push(event);
    else if (event.type !== 'erased') ofAccounts.push(event);
  }
  const { codes, counts } = evolveCodes(before.codes ?? [], ofCodes);
  await Promise.all([
    ...ofService.flatMap((event) => writeBlockedHost(sql, event)),
    ...(ofAccounts.length > 0 ? writeAccounts(sql, before, ofAccounts) : []),
    ...(ofCodes.length > 0 ? [...writeCodes(sql, codes), ...writeCodeCounts(sql, counts)] : []),
  ]);
  return { codes };
}

async function readBefore(sql: Queryable, events: AppliedEvent[]): Promise<StateBefore> {
  const created = new Set(events.filter(({ type }) => type === 'code_created').map(({ stream }) => stream));
  const streams = [...new Set(events.map(({ stream }) => stream))].filter((stream) => !created.has(stream));
  if (streams.length === 0) return {};
  const [codes, accounts, webhooks, domains] = await Promise.all([
    sql<Code[]>`SELECT * FROM codes WHERE id = ANY(${streams})`,
    sql<Account[]>`SELECT * FROM accounts WHERE id = ANY(${streams})`,
    sql<Webhook[]>`SELECT * FROM subscriptions WHERE account = ANY(${streams})`,
    sql<Domain[]>`SELECT * FROM domains WHERE id = ANY(${events.filter(isDomainEvent).map(({ data }) => data.domain)})`,
  ]);
  return { codes, accounts, webhooks, domains };
}

interface CodeCounts {
  /** `codes` is added to the count, and may be negative. */
  changes: { account: string; mode: string; status: string; codes: number }[];
  /** Their rows that fall to 0 are deleted, because a rebuild, which has no data of erased codes, creates none. */
  erasedAccounts: string[];
}

function evolveCodes(before: Code[], events: AppliedCodeEvent[]): { codes: Code[]; counts: CodeCounts } {
  const codes = new Map<string, Code>(before.map((code) => [code.id, code]));
  const changes = new Map<string, number>();
  const erasedAccounts = new Set<string>();
  const count = ({ account, mode, status }: Code, by: number) => {
    const key = JSON.stringify([account, mode, status]);
    changes.set(key, (changes.get(key) ?? 0) + by);
  };
  for (const event of events) {
    const old = codes.get(event.stream);
    const code = evolveCode(old, event);
    if (old !== undefined) count(old, -1);
    if (event.type === 'code_erased') erasedAccounts.add(code.account);
    else count(code, 1);
    codes.set(code.id, code);
  }
  const counted = [...changes].map(([key, by]) => {
    const [account, mode, status] = JSON.parse(key) as [string, string, string];
    return { account, mode, status, codes: by };
  });
  return { codes: [...codes.values()], counts: { changes: counted, erasedAccounts: [...erasedAccounts] } };
}

/** The columns that events can change, an erasure included. A new property of `Code` that is missing here does not compile. */
const changeableColumns = {
  destination_revision: true,
  status: true,
  style: true,
  created_at: true,
  updated_at: true,
  version: true,
  position: true,
  disabled_reason: true,
  disabled_at: true,
  limit_reached_at: true,
  has_password: true,
  imported_at: true,
  imported_scans: true,
} satisfies Record<
  Exclude<keyof Code, keyof CodeFields | 'id' | 'account' | 'mode' | 'short_code' | 'short_code_given'>,
  true
>;

const changedColumns = [...fieldNames, ...Object.keys(changeableColumns)]
  .map((column) => `${column} = excluded.${column}`)
  .join(', ');

/** Sorted, as are the counts: transactions that write some of the same rows must lock them in one order. */
const writeCodes = (sql: Queryable, codes: Code[]): Promise<unknown>[] => [
  sql`
    INSERT INTO codes
    SELECT * FROM jsonb_populate_recordset(NULL::codes, ${sql.json(rows(codes))}) ORDER BY short_code
    ON CONFLICT (id) DO UPDATE SET ${sql.unsafe(changedColumns)}`,
];

const writeCodeCounts = (sql: Queryable, { changes, erasedAccounts }: CodeCounts): Promise<unknown>[] => [
  sql`
    INSERT INTO code_counts AS c
    SELECT * FROM jsonb_populate_recordset(NULL::code_counts, ${sql.json(changes)}) ORDER BY account, mode, status
    ON CONFLICT (account, mode, status) DO UPDATE SET codes = c.codes + excluded.codes`,
  ...(erasedAccounts.length === 0
    ? []
    : [sql`DELETE FROM code_counts WHERE account = ANY(${erasedAccounts}) AND codes = 0`]),
];

function writeAccounts(sql: Queryable, before: StateBefore, events: Pending<AccountEvent>[]): Promise<unknown>[] {
  const accounts = new Map<string, Account>((before.accounts ?? []).map((account) => [account.id, account]));
  const deleted = new Set<string>();
  for (const event of events) {
    if (event.type !== 'account_deleted') {
      accounts.set(event.stream, evolveAccount(accounts.get(event.stream), event));
      continue;
    }
    accounts.delete(event.stream);
    deleted.add(event.stream);
  }
  return [
    sql`
      INSERT INTO accounts
      SELECT * FROM jsonb_populate_recordset(NULL::accounts, ${sql.json(rows([...accounts.values()]))})
      ON CONFLICT (id) DO UPDATE SET
        name = excluded.name, plan = excluded.plan, version = excluded.version,
        suspended_reason = excluded.suspended_reason, suspended_at = excluded.suspended_at, timezone = excluded.timezone,
        guest_page = excluded.guest_page, primary_domain = excluded.primary_domain`,
    ...events.flatMap((event) => [
      ...writeKey(sql, event),
      ...writeLogo(sql, event),
      ...writeShare(sql, event),
      ...writeMember(sql, event),
    ]),
    ...writeWebhooks(sql, before.webhooks ?? [], events.filter(isWebhookEvent)),
    ...writeDomains(sql, before.domains ?? [], events.filter(isDomainEvent)),
    // Last: no event of an account follows its deletion.
    ...(deleted.size === 0 ? [] : removeAccounts(sql, [...deleted])),
  ];
}

const removeAccounts = (sql: Queryable, ids: string[]): Promise<unknown>[] => [
  sql`DELETE FROM accounts WHERE id = ANY(${ids})`,
  sql`DELETE FROM api_keys WHERE account = ANY(${ids})`,
  sql`DELETE FROM logos WHERE account = ANY(${ids})`,
  sql`DELETE FROM subscriptions WHERE account = ANY(${ids})`,
  sql`DELETE FROM domains WHERE account = ANY(${ids})`,
  sql`DELETE FROM shares WHERE account = ANY(${ids})`,
  sql`DELETE FROM members WHERE account = ANY(${ids})`,
];

function writeKey(sql: Queryable, event: Pending<AccountEvent>): Promise<unknown>[] {
  if (event.type === 'key_revoked')
    return [sql`UPDATE api_keys SET revoked_at = ${event.occurred_at} WHERE id = ${event.data.key}`];
  if (event.type === 'key_rotated') {
    const { key, replaced_by, expires_at } = event.data;
    return [sql`UPDATE api_keys SET replaced_by = ${replaced_by}, expires_at = ${expires_at} WHERE id = ${key}`];
  }
  if (event.type !== 'key_created') return [];
  const { key, name, mode, hash, last4, scopes, expires_at, allowed_cidrs } = event.data;
  return [
    sql`
      INSERT INTO api_keys (id, account, name, mode, hash, last4, created_at, scopes, expires_at, allowed_cidrs)
      VALUES (${key}, ${event.stream}, ${name}, ${mode}, ${hash}, ${last4}, ${event.occurred_at},
        ${scopes}, ${expires_at}, ${allowed_cidrs})`,
  ];
}

function writeLogo(sql: Queryable, event: Pending<AccountEvent>): Promise<unknown>[] {
  if (event.type === 'logo_removed') return [sql`DELETE FROM logos WHERE id = ${event.data.logo}`];
  if (event.type !== 'logo_added') return [];
  const { logo, mode, hash, format, width, height, bytes } = event.data;
  return [
    sql`
      INSERT INTO logos (id, account, mode, hash, format, width, height, bytes, created_at)
      VALUES (${logo}, ${event.stream}, ${mode}, ${hash}, ${format}, ${width}, ${height}, ${bytes}, ${event.occurred_at})`,
  ];
}

function writeWebhooks(sql: Queryable, before: Webhook[], events: Pending<WebhookEvent>[]): Promise<unknown>[] {
  const webhooks = new Map(before.map((webhook) => [endpointKey(webhook), webhook]));
  const changed = new Map<string, EndpointKey>();
  for (const event of events) {
    const key = keyOfEvent(event);
    const webhook = evolveWebhook(webhooks.get(endpointKey(key)), event);
    changed.set(endpointKey(key), key);
    if (webhook === undefined) webhooks.delete(endpointKey(key));
    else webhooks.set(endpointKey(key), webhook);
  }
  if (changed.size === 0) return [];
  const after = [...changed.keys()].flatMap((key) => webhooks.get(key) ?? []);
  const keys = [...changed.values()].map(({ account, webhook }) => ({ account, webhook }));
  return [
    sql`
      DELETE FROM subscriptions s USING jsonb_to_recordset(${sql.json(keys)}) AS k (account text, webhook text)
      WHERE s.account = k.account AND s.webhook = k.webhook`,
    sql`
      INSERT INTO subscriptions
      SELECT * FROM jsonb_populate_recordset(NULL::subscriptions, ${sql.json(rows(after))})`,
  ];
}

function writeDomains(sql: Queryable, before: Domain[], events: Pending<AccountDomainEvent>[]): Promise<unknown>[] {
  const domains = new Map(before.map((domain) => [domain.id, domain]));
  for (const event of events) domains.set(event.data.domain, evolveDomain(domains.get(event.data.domain), event));
  if (events.length === 0) return [];
  // Rows are written in this order, and only one row of a name can serve: the one that stops comes before the one that begins.
  const written = [...domains.values()].toSorted((a, b) => Number(isServing(a)) - Number(isServing(b)));
  return [
    sql`
      INSERT INTO domains
      SELECT * FROM jsonb_populate_recordset(NULL::domains, ${sql.json(rows(written))})
      ON CONFLICT (id) DO UPDATE SET
        status = excluded.status, root_url = excluded.root_url, not_found_url = excluded.not_found_url,
        expired_url = excluded.expired_url, app_links = excluded.app_links, verified_at = excluded.verified_at,
        removed_at = excluded.removed_at`,
  ];
}

function writeBlockedHost(sql: Queryable, { occurred_at, ...event }: Pending<ServiceEvent>): Promise<unknown>[] {
  switch (event.type) {
    case 'destination_blocked':
      // A conflict is with a concurrent request, which makes the append of this event fail.
      return [
        sql`
          INSERT INTO blocked_hosts (host, blocked_at) VALUES (${canonicalHost(event.data.host)}, ${occurred_at})
          ON CONFLICT DO NOTHING`,
      ];
    case 'destination_unblocked':
      return [sql`DELETE FROM blocked_hosts WHERE host = ${canonicalHost(event.data.host)}`];
    case 'scans_dropped':
    case 'scans_archived':
      return [];
  }
}

/** As plain JSON, so that a batch of any size is one query parameter. */
const row = (entry: Code | Account | Webhook | Domain) => JSON.parse(JSON.stringify(entry));
const rows = (entries: (Code | Account | Webhook | Domain)[]) => entries.map(row);
