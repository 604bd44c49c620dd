import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Transaction } from '../lib/sql.ts';
import { newSigningSecret } from './secrets.ts';

const secretOverlapMs = 24 * 60 * 60 * 1000;

/** Creates the secret of a webhook, unless it has one. */
export const createSecret = (tx: Transaction, box: SecretBox, key: EndpointKey) => tx`
  INSERT INTO endpoint_secrets (account, webhook, current)
  VALUES (${key.account}, ${key.webhook}, ${box.seal(newSigningSecret(), key)})
  ON CONFLICT DO NOTHING`;

/** Replaces the secret of a webhook. The previous one also signs for 24 hours. */
export const rotateSecret = (tx: Transaction, box: SecretBox, key: EndpointKey, now: Date) => tx`
  UPDATE endpoint_secrets SET
    previous = current, previous_until = ${new Date(now.getTime() + secretOverlapMs)},
    current = ${box.seal(newSigningSecret(), key)}
  WHERE account = ${key.account} AND webhook = ${key.webhook}`;

export const destroySecret = (tx: Transaction, key: EndpointKey) => tx`
  DELETE FROM endpoint_secrets WHERE account = ${key.account} AND webhook = ${key.webhook}`;

/** The secret in plain text, and until when the previous one signs, if it still does. */
export const openedSecret = (
  box: SecretBox,
  key: EndpointKey,
  { current, previous_until }: { current: string; previous_until: Date | null },
  now: Date,
): { secret: string; previous_until: Date | null } => ({
  secret: box.open(current, key),
  previous_until: previous_until !== null && previous_until > now ? previous_until : null,
});
