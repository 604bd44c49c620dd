import { createHmac } from 'node:crypto';

/**
 * The headers of Standard Webhooks, signed with every secret: during a rotation, a receiver may have either.
 *
 * @example signedHeaders({ id: 'whd_…', at: new Date(), body, secrets: ['whsec_…'] })['webhook-signature'] // 'v1,…'
 */
export function signedHeaders({ id, at, body, secrets }: Signed): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000);
  const content = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', keyOf(secret)).update(content).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}

interface Signed {
  id: string;
  at: Date;
  body: string;
  secrets: string[];
}

const keyOf = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64');
