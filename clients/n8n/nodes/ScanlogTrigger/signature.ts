import { createHmac, timingSafeEqual } from 'node:crypto';

/** A request that is older, or that is further in the future, may be a recorded one that is sent again. */
const toleranceSeconds = 300;

interface SignedRequest {
  headers: Record<string, unknown>;
  /** The body as it was received: parsing and writing it again would change it. */
  body: Buffer;
  /** The secret of the webhook, `whsec_…`. */
  secret: string;
  /** Unix time, in seconds. */
  now: number;
}

/** Whether a request has a signature of the webhook's secret, as Standard Webhooks describes it, and is recent. */
export function isSigned({ headers, body, secret, now }: SignedRequest): boolean {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers[`webhook-${name}`]);
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false;
  if (!(Math.abs(now - Number(timestamp)) <= toleranceSeconds)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  // During a rotation of the secret, there is a signature for each of two.
  return signatures.split(' ').some((signature) => {
    const [version, encoded = ''] = signature.split(',');
    const given = Buffer.from(encoded, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
