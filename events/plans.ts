export const plans = ['free', 'pro', 'business', 'enterprise'] as const;
export type Plan = (typeof plans)[number];

export const modes = ['live', 'test'] as const;
/** The mode of a key and of everything created with it: production or development. */
export type Mode = (typeof modes)[number];

interface Limits {
  requestsPerMinute: number;
  /** The maximum of live codes of the account, without deleted ones. */
  codes: number;
  /** Short codes that the account may choose in 30 days, in each mode; short codes of deleted codes count. */
  givenShortCodes: number;
  /** Custom domains, pending ones included. */
  domains: number;
}

export const limitsOf: Record<Plan, Limits> = {
  free: { requestsPerMinute: 10, codes: 100, givenShortCodes: 200, domains: 1 },
  pro: { requestsPerMinute: 60, codes: 50, givenShortCodes: 500, domains: 3 },
  business: { requestsPerMinute: 120, codes: 250, givenShortCodes: 1_000, domains: 10 },
  enterprise: { requestsPerMinute: 300, codes: Number.POSITIVE_INFINITY, givenShortCodes: 10_000, domains: 10_000 },
};

export const hasWebhooks = (plan: Plan): boolean => plan !== 'free';
