import { coveringHosts, hostOf } from '../../events/hosts.ts';
import { type Actor, operator, type Recorded } from '../../events/recorded.ts';
import { blockHost, type ServiceEvent, serviceStream, unblockHost } from '../../events/service.ts';
import { type GivenRule, urlsOfRules } from '../../events/targeting/rule-ids.ts';
import { writeState } from '../../projections/state.ts';
import { type FieldError, invalid, Refusal } from '../lib/errors.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';

export interface BlockedHost {
  host: string;
  blocked_at: Date;
}

export const listBlockedHosts = (sql: Queryable): Promise<BlockedHost[]> =>
  sql<BlockedHost[]>`SELECT host, blocked_at FROM blocked_hosts ORDER BY host`;

/** Blocks a host and its subdomains: new destinations there are refused, and short links that lead there answer 410. */
export const block = (sql: Sql, host: string, now: Date, actor = operator) =>
  decideOn(sql, { actor, now }, ({ hosts }) => blockHost(hosts, host));

export const unblock = (sql: Sql, host: string, now: Date, actor = operator) =>
  decideOn(sql, { actor, now }, ({ hosts }) => unblockHost(hosts, host));

interface Blocked {
  version: number;
  hosts: string[];
}

async function decideOn(
  sql: Sql,
  by: { actor: Actor; now: Date },
  decide: (blocked: Blocked) => ServiceEvent[],
): Promise<Recorded<ServiceEvent>[]> {
  const { recorded } = await decideAndAppend<Blocked, ServiceEvent>(sql, serviceStream, {
    load: async () => {
      const [row] = await sql<[Blocked]>`
        SELECT (SELECT coalesce(max(version), 0) FROM events WHERE stream = ${serviceStream}) AS version,
          ARRAY(SELECT host FROM blocked_hosts) AS hosts`;
      return row;
    },
    decide,
    project: (tx, _, events) => writeState(tx, {}, events),
    by,
  });
  return recorded;
}

/** Why and since when the operator has disabled a short link. */
export interface Disabled {
  reason: string;
  at: Date;
}

/** What disables a destination: the block of its host or of a parent domain, the longest standing one of several. */
export async function blockOf(sql: Queryable, destination: string): Promise<Disabled | undefined> {
  const [block] = await sql<BlockedHost[]>`
    SELECT host, blocked_at FROM blocked_hosts WHERE host = ANY(${coveringHosts(hostOf(destination))})
    ORDER BY blocked_at LIMIT 1`;
  return block && disabledBy(block);
}

/** Like `blockOf`, at an earlier time: a host may have been unblocked since. */
export async function blockOfThen(sql: Queryable, destination: string, then: Date): Promise<Disabled | undefined> {
  const [block] = await sql<BlockedHost[]>`
    SELECT host, blocked_at FROM (
      SELECT DISTINCT ON (host) host, occurred_at AS blocked_at, type
      FROM events, canonical_host(data ->> 'host') AS host
      WHERE stream = ${serviceStream} AND type IN ('destination_blocked', 'destination_unblocked')
        AND host = ANY(${coveringHosts(hostOf(destination))}) AND occurred_at <= ${then}
      ORDER BY host, version DESC
    ) AS last
    WHERE type = 'destination_blocked' ORDER BY blocked_at LIMIT 1`;
  return block && disabledBy(block);
}

const disabledBy = ({ host, blocked_at }: BlockedHost): Disabled => ({
  reason: `The operator of this service has blocked ${host}.`,
  at: blocked_at,
});

/** A URL of a request, and its place in it. */
interface RequestedUrl {
  /** Index of the item in a bulk request. */
  index?: number;
  field: string;
  url: string;
}

/** Every URL of a create or a change, with its place. */
export const urlsOf = (request: {
  destination_url?: string | undefined;
  fallback_url?: string | null;
  rules?: GivenRule[] | null;
}): RequestedUrl[] => [
  ...(request.destination_url === undefined ? [] : [{ field: 'destination_url', url: request.destination_url }]),
  ...(request.fallback_url ? [{ field: 'fallback_url', url: request.fallback_url }] : []),
  ...urlsOfRules(request.rules ?? []),
];

/** The hosts of URLs, and their parent domains, that are blocked. */
export async function blockedHostsOf(sql: Queryable, urls: string[]): Promise<Set<string>> {
  if (urls.length === 0) return new Set();
  const candidates = [...new Set(urls.flatMap((url) => coveringHosts(hostOf(url))))];
  const rows = await sql<{ host: string }[]>`SELECT host FROM blocked_hosts WHERE host = ANY(${candidates})`;
  return new Set(rows.map(({ host }) => host));
}

/** What is wrong with each URL on one of the blocked hosts. */
export const problemsWithHosts = (requested: RequestedUrl[], blocked: Set<string>): FieldError[] =>
  requested.flatMap(({ index, field, url }): FieldError[] => {
    const host = coveringHosts(hostOf(url)).find((candidate) => blocked.has(candidate));
    if (host === undefined) return [];
    const message = `${field} must not lead to ${host}: the operator of this service has blocked it.`;
    return [{ ...(index === undefined ? {} : { index }), field, message }];
  });

/** Throws `destination_blocked` if any URL is on a blocked host, and 400 if one is on a custom domain, which could be a loop. */
export async function refuseBlocked(sql: Queryable, requested: RequestedUrl[]): Promise<void> {
  await refuseLoops(sql, requested);
  const blocked = await blockedHostsOf(
    sql,
    requested.map(({ url }) => url),
  );
  const errors = problemsWithHosts(requested, blocked);
  if (errors.length === 0) return;
  throw new Refusal('destination_blocked', errors[0]?.message ?? '', errors);
}

async function refuseLoops(sql: Queryable, requested: RequestedUrl[]): Promise<void> {
  if (requested.length === 0) return;
  const hosts = [...new Set(requested.map(({ url }) => hostOf(url)))];
  const rows = await sql<{ name: string }[]>`
    SELECT name FROM domains WHERE name = ANY(${hosts}) AND status IN ('active', 'failing')`;
  const served = new Set(rows.map(({ name }) => name));
  const [first, ...rest] = requested.flatMap(({ url, ...place }): FieldError[] => {
    const host = hostOf(url);
    const message = `${place.field} must not lead to ${host}, whose short links this service serves: it could be a loop.`;
    return served.has(host) ? [{ ...place, message }] : [];
  });
  if (first !== undefined) throw invalid([first, ...rest]);
}
