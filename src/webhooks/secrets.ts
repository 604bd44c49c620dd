import { randomBytes } from 'node:crypto';

/** A secret in the format of Standard Webhooks: `whsec_` and 256 random bits in base64. */
export const newSigningSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
