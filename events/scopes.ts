/** What a key can be limited to. Which operation needs which is in src/api/http/access.ts. */
export const scopes = [
  'codes.read',
  'codes.write',
  'analytics.read',
  'events.read',
  'webhooks.write',
  'domains.write',
  'account.read',
  'account.write',
] as const;
export type Scope = (typeof scopes)[number];
