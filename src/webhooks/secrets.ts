import { randomBytes } from 'node:crypto';

/** `whsec_` and 256 random bits in base64, as Standard Webhooks writes them. */
export const newSigningSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
