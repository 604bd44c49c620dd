import type { Rule, Utm } from './targeting-schema.ts';

/**
 * What decides where a scan of a code leads, besides its destination. Edges get it with the route, and only for codes that
 * have some of it.
 */
export interface Targeting {
  rules?: Rule[];
  /** ISO 8601 timestamps: the code redirects from `starts_at` until before `expires_at`. */
  starts_at?: string;
  expires_at?: string;
  max_scans?: number;
  /** Whether `max_scans` redirects have been counted. */
  limit_reached?: true;
  fallback_url?: string;
  forward_query?: true;
  utm?: Utm;
}

export const availabilities = ['live', 'scheduled', 'expired', 'limit_reached'] as const;
/** Whether a code redirects to its destinations now, apart from its status. */
export type Availability = (typeof availabilities)[number];

/** The fields of a code that decide its targeting. */
export interface TargetingFields {
  rules: Rule[] | null;
  starts_at: Date | null;
  expires_at: Date | null;
  max_scans: number | null;
  limit_reached_at: Date | null;
  fallback_url: string | null;
  forward_query: boolean | null;
  utm: Utm | null;
}

export const noTargeting: TargetingFields = {
  rules: null,
  starts_at: null,
  expires_at: null,
  max_scans: null,
  limit_reached_at: null,
  fallback_url: null,
  forward_query: null,
  utm: null,
};

/** The targeting of a code; undefined if it has none. */
export function targetingOf(code: TargetingFields): Targeting | undefined {
  const { rules, starts_at, expires_at, max_scans, limit_reached_at, fallback_url, forward_query, utm } = code;
  const targeting: Targeting = {
    ...(rules === null ? {} : { rules }),
    ...(starts_at === null ? {} : { starts_at: starts_at.toISOString() }),
    ...(expires_at === null ? {} : { expires_at: expires_at.toISOString() }),
    ...(max_scans === null ? {} : { max_scans }),
    ...(max_scans === null || limit_reached_at === null ? {} : { limit_reached: true }),
    ...(fallback_url === null ? {} : { fallback_url }),
    ...(forward_query === true ? { forward_query } : {}),
    ...(utm === null ? {} : { utm }),
  };
  return Object.keys(targeting).length === 0 ? undefined : targeting;
}

const timeOf = (text: string | undefined) => (text === undefined ? null : new Date(text));

/** The targeting after some fields of the code have changed. */
export function changeTargetingBy(
  targeting: Targeting | undefined,
  change: Partial<TargetingFields>,
): Targeting | undefined {
  const { starts_at, expires_at, limit_reached, ...rest } = targeting ?? {};
  return targetingOf({
    ...noTargeting,
    ...rest,
    starts_at: timeOf(starts_at),
    expires_at: timeOf(expires_at),
    // Only whether it is null matters here.
    limit_reached_at: limit_reached === true ? new Date(0) : null,
    ...change,
  });
}

interface Schedule {
  startsAtMs: number;
  expiresAtMs: number;
  isLimitReached: boolean;
}

export function availabilityAt({ startsAtMs, expiresAtMs, isLimitReached }: Schedule, atMs: number): Availability {
  if (atMs >= expiresAtMs) return 'expired';
  if (atMs < startsAtMs) return 'scheduled';
  return isLimitReached ? 'limit_reached' : 'live';
}
