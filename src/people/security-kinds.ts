/** What can change about how a person signs in. */
export const securityChanges = [
  'password_set',
  'password_changed',
  'password_reset',
  'email_changed',
  'passkey_added',
  'passkey_removed',
  'codes_turned_on',
  'codes_turned_off',
  'recovery_codes_replaced',
  'identity_linked',
  'unconfirmed_removed',
  'sessions_ended',
  'reset_link_created',
] as const;
export type SecurityChange = (typeof securityChanges)[number];
