import { compileWhen, type Facts } from './conditions.ts';
import { locator } from './destination-query.ts';
import { chooseVariant, splitSeed } from './split.ts';
import { type Availability, availabilityAt, type Targeting } from './targeting.ts';
import type { Rule } from './targeting-schema.ts';

/** One of the URLs that a scan can lead to. */
export interface RedirectTarget {
  /** As its owner wrote it. */
  url: string;
  /** The id of the rule, or of the fallback (`fallbackId`), that led there; undefined for the destination of the code. */
  rule: string | undefined;
  variant: string | undefined;
  /** The `Location` header for a scan with this query string. */
  locationOf(query: string): string;
}

/** Resolves where scans of one code lead; created once for each version of its route. */
export interface Resolver {
  availabilityAt(atMs: number): Availability;
  /** Where a scan leads while the code is live. */
  resolve(facts: Facts, visitor: string): RedirectTarget;
  /** Where a scan leads while it is not. */
  fallback: RedirectTarget | undefined;
}

/** A compiled rule: whether it applies, and where it leads. */
interface CompiledRule {
  applies(facts: Facts): boolean;
  targetFor(visitor: string): RedirectTarget;
}

/** `toLocation` encodes a URL as a `Location` header. */
export function createResolver(
  destinationUrl: string,
  targeting: Targeting,
  toLocation: (url: string) => string,
): Resolver {
  const { rules = [], starts_at, expires_at, limit_reached, fallback_url, forward_query = false, utm } = targeting;
  const targetOf = (url: string, rule?: string, variant?: string): RedirectTarget => ({
    url,
    rule,
    variant,
    locationOf: locator(toLocation(url), { forward: forward_query, utm }),
  });
  const schedule = {
    startsAtMs: starts_at === undefined ? Number.NEGATIVE_INFINITY : Date.parse(starts_at),
    expiresAtMs: expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
    isLimitReached: limit_reached === true,
  };
  const compiled = rules.map((rule) => compileRule(rule, targetOf));
  const otherwise = targetOf(destinationUrl);
  return {
    availabilityAt: (atMs) => availabilityAt(schedule, atMs),
    resolve(facts, visitor) {
      for (const rule of compiled) if (rule.applies(facts)) return rule.targetFor(visitor);
      return otherwise;
    },
    fallback:
      fallback_url === undefined
        ? undefined
        : {
            url: fallback_url,
            rule: fallbackId(fallback_url),
            variant: undefined,
            locationOf: () => toLocation(fallback_url),
          },
  };
}

function compileRule(
  rule: Rule,
  targetOf: (url: string, rule: string, variant?: string) => RedirectTarget,
): CompiledRule {
  const applies = compileWhen(rule.when);
  if (!('split' in rule)) {
    const target = targetOf(rule.destination_url, rule.id);
    return { applies, targetFor: () => target };
  }
  const seeds = rule.split.map(({ id, weight }) => splitSeed(rule.id, id, weight));
  const targets = rule.split.map(({ id, destination_url }) => targetOf(destination_url, rule.id, id));
  return { applies, targetFor: (visitor) => targets[chooseVariant(visitor, seeds)] as RedirectTarget };
}

const fallbackPrefix = 'f';

/** What a scan that led to the fallback has in place of the id of a rule; the same for the same URL. */
export function fallbackId(url: string): string {
  const { low, high } = splitSeed('fallback', url, 1);
  return `${fallbackPrefix}${(low >>> 0).toString(36)}${(high >>> 0).toString(36)}`;
}

/** Whether a scan led to the fallback; `rule` is what it has as rule. */
export const isFallback = (rule: string | undefined): boolean => rule?.startsWith(fallbackPrefix) === true;

/** `isFallback` in SQL, of the column `rule`; NULL for a scan without a rule. */
export const isFallbackSql = `rule LIKE '${fallbackPrefix}%'`;
